"""The constructs of a statement in PostgreSQL's parse tree: node types, fields, values, names.

A feature is written ``Node``, ``Node.field`` for one that is set, ``Node.field=VALUE`` for an
enumeration or the bits of a window's frame, ``function name`` and ``type name``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import postgast
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from execution.allowlists import Allowlist

_MESSAGES = postgast.pg_query_pb2.DESCRIPTOR.message_types_by_name
# Bits of WindowDef.frame_options, from PostgreSQL's parsenodes.h. A bound's start and end are one
# bit each.
_FRAME_BITS = {
    0x00002: "RANGE",
    0x00004: "ROWS",
    0x00008: "GROUPS",
    0x00010: "BETWEEN",
    0x00020: "START UNBOUNDED PRECEDING",
    0x00100: "END UNBOUNDED FOLLOWING",
    0x00200: "START CURRENT ROW",
    0x00400: "END CURRENT ROW",
    0x00800: "START offset PRECEDING",
    0x01000: "END offset PRECEDING",
    0x02000: "START offset FOLLOWING",
    0x04000: "END offset FOLLOWING",
    0x08000: "EXCLUDE CURRENT ROW",
    0x10000: "EXCLUDE GROUP",
    0x20000: "EXCLUDE TIES",
}
_ANALYSIS = "set by the server's analysis, never by its parser"
# Fields and values that no text of a query sets.
_UNSET = {
    **dict.fromkeys(
        "xpr casetype casecollid coalescetype coalescecollid minmaxtype minmaxcollid inputcollid "
        "refs agglevelsup argnumber rtindex row_typeid type_oid sub_link_id argisrow type "
        "cterecursive cterefcount ctecolnames ctecoltypes ctecoltypmods ctecolcollations".split(),
        _ANALYSIS,
    ),
    "typemod": "always -1 from the parser",
    "stmt": "the statement itself",
    "setof": "only where a function is declared",
    "pct_type": "only where a function is declared",
    "relpersistence": "always `p` in a query",
}
_UNSET_OF = {
    "RowExpr.colnames": _ANALYSIS,
    "A_Const.bsval": "refused: strings of bits",
    "JoinExpr.join_using_alias": "refused: sqlglot does not read it",
    "RangeFunction.is_rowsfrom": "refused: sqlglot does not read it",
    "SortBy.sortby_dir=SORTBY_USING": "refused: sqlglot does not read it",
    "SortBy.use_op": "refused: sqlglot does not read it",
    **{
        f"SQLValueFunction.op=SVFOP_{name}": "refused: it tells who is asking, or where"
        for name in "CURRENT_ROLE CURRENT_USER USER SESSION_USER CURRENT_CATALOG "
        "CURRENT_SCHEMA".split()
    },
    "SelectStmt.locking_clause": "LockingClause is not on the allowlist",
    "RangeFunction.coldeflist": "ColumnDef is not on the allowlist",
    "RangeVar.catalogname": "refused: a table of another database",
    "ResTarget.indirection": "only where a table is written",
    "GroupingSet.kind=GROUPING_SET_SIMPLE": _ANALYSIS,
    "SubLink.sub_link_type=MULTIEXPR_SUBLINK": "only where a table is updated",
    "SubLink.sub_link_type=CTE_SUBLINK": "only the planner makes it",
    "SubLink.sub_link_type=ROWCOMPARE_SUBLINK": _ANALYSIS,
    "FuncCall.funcformat=COERCE_EXPLICIT_CAST": "only the analysis makes it",
    "FuncCall.funcformat=COERCE_IMPLICIT_CAST": "only the analysis makes it",
    "RowExpr.row_format=COERCE_EXPLICIT_CAST": "only the analysis makes it",
    "RowExpr.row_format=COERCE_SQL_SYNTAX": "only the analysis makes it",
    "function trim": "the grammar writes btrim, ltrim or rtrim for TRIM",
    "type integer": "the grammar writes int4 for it",
}
_PLANNER_JOINS = ("SEMI", "ANTI", "UNIQUE")
# Fields of type Node that always hold a value where the node stands.
_PLACES = ("location", "list_start", "list_end", "_len")


def list_features(statement: str) -> set[str]:
    """The features of a statement; empty where PostgreSQL's grammar does not accept it."""
    try:
        tree = postgast.parse(statement)
    except (postgast.PgQueryError, DecodeError, UnicodeError):
        return set()
    found: set[str] = set()
    pending: list[Any] = [tree]
    while pending:
        node = pending.pop()
        kind = type(node).__name__
        if kind not in ("ParseResult", "Node"):
            found.add(kind)
        for field, value in node.ListFields():
            if field.type == FieldDescriptor.TYPE_MESSAGE:
                pending.extend(value if field.is_repeated else (value,))
            if kind not in ("ParseResult", "Node") and not _is_place(field.name):
                found |= set(_name_field(kind, field, value))
        found |= set(_name_call(kind, node))
    return found


def expect_features(allowlist: Allowlist) -> dict[str, str]:
    """All features of what the guard's allowlist admits, with why nothing can produce it.

    The reason is empty for those that a generator must produce.
    """
    found: dict[str, str] = {}
    for kind in sorted(allowlist.nodes):
        found[kind] = ""
        for field in _MESSAGES[kind].fields:
            if _is_place(field.name):
                continue
            name = f"{kind}.{field.name}"
            reason = _UNSET_OF.get(name, _UNSET.get(field.name, ""))
            if field.message_type is not None and field.message_type.name != "Node":
                inner = field.message_type.name
                if inner not in allowlist.nodes:
                    reason = f"{inner} is not on the allowlist"
            if name == "WindowDef.frame_options":
                found |= {f"{name}={bit}": "" for bit in _FRAME_BITS.values()}
            elif field.enum_type is not None:
                for value in field.enum_type.values:
                    if value.number:
                        feature = f"{name}={value.name}"
                        found[feature] = _UNSET_OF.get(feature, reason or _explain(value.name))
            else:
                found[name] = reason
    names = [f"function {name}" for name in sorted(allowlist.functions)]
    names += [f"type {name}" for name in sorted(allowlist.types)]
    return found | {name: _UNSET_OF.get(name, "") for name in names}


def _explain(value: str) -> str:
    if value.startswith("JOIN_") and any(kind in value for kind in _PLANNER_JOINS):
        return "only the planner makes it"
    return ""


def _name_field(kind: str, field: FieldDescriptor, value: Any) -> Iterator[str]:
    name = f"{kind}.{field.name}"
    if name == "WindowDef.frame_options":
        yield from (f"{name}={text}" for bit, text in _FRAME_BITS.items() if value & bit)
    elif field.enum_type is not None:
        yield f"{name}={field.enum_type.values_by_number[value].name}"
    else:
        yield name


def _name_call(kind: str, node: Any) -> Iterator[str]:
    if kind == "FuncCall":
        yield f"function {node.funcname[-1].string.sval}"
    elif kind == "TypeName":
        yield f"type {node.names[-1].string.sval}"
    elif kind == "SQLValueFunction":
        name = postgast.pg_query_pb2.SQLValueFunctionOp.Name(node.op)
        yield f"function {name.removeprefix('SVFOP_').removesuffix('_N').lower()}"


def _is_place(name: str) -> bool:
    return any(place in name for place in _PLACES)
