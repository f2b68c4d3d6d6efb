"""PostgreSQL's parse trees: their nodes, places in the text, and the names of outputs.

The name of an output without AS follows FigureColname of PostgreSQL's parse_target.c (REL_18).
"""

from __future__ import annotations

from typing import Any

import postgast
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError

from nl2sql.types import Violation

PLACES = frozenset(
    "location list_start list_end rexpr_list_start rexpr_list_end name_location stmt_location "
    "stmt_len".split()
)
"""The fields in which equal statements may differ."""


def parse_statement(sql: str) -> Any | Violation:
    """PostgreSQL's tree of one statement, a RawStmt, or why there is none."""
    try:
        statements = postgast.parse(sql).stmts
    except (postgast.PgQueryError, DecodeError, UnicodeError) as error:
        # A DecodeError means a tree that is too deep for protobuf.
        return Violation("unparsable", "", f"PostgreSQL's grammar does not accept it: {error}.")
    if len(statements) != 1:
        return Violation("multiple_statements", "", "Exactly one statement is allowed.")
    return statements[0]


def list_children(node: Any) -> list[Any]:
    """The nodes directly in a node."""
    children: list[Any] = []
    for descriptor, value in node.ListFields():
        if descriptor.type == FieldDescriptor.TYPE_MESSAGE:
            children.extend(value if descriptor.is_repeated else (value,))
    return children


def forget_places(message: Any) -> None:
    """Clears the places of a node and of all nodes in it, in place."""
    for _, node in postgast.walk(message):
        for place in PLACES.intersection(node.DESCRIPTOR.fields_by_name):
            node.ClearField(place)


_pb = postgast.pg_query_pb2

# The name of an output that has no other name.
UNNAMED = "?column?"
# Stands for the name of a star's first column, which is unknown; no real name equals it.
_UNKNOWN = "\0"

_NAMED_LIKE_THEMSELVES = {
    "a_array_expr": "array",
    "coalesce_expr": "coalesce",
    "grouping_func": "grouping",
    "row_expr": "row",
}
_SUBLINKS = {_pb.EXISTS_SUBLINK: "exists", _pb.ARRAY_SUBLINK: "array"}


def name_output(node: Any) -> str:
    """The name of an expression in a target list that is not a star.

    >>> statement = postgast.parse("SELECT t.a, count(*), b::text, CASE WHEN c THEN 1 END, 1 + 1")
    >>> targets = statement.stmts[0].stmt.select_stmt.target_list
    >>> [name_output(target.res_target.val) for target in targets]
    ['a', 'count', 'b', 'case', '?column?']
    """
    return _find_name(node)[0] or UNNAMED


def _find_name(node: Any) -> tuple[str, bool]:
    """The name, or empty, and whether it takes precedence over the name of a cast."""
    kind = node.WhichOneof("node")
    inner: Any = getattr(node, kind) if kind else None
    match kind:
        case "column_ref":
            return _find_last(inner.fields), True
        case "a_indirection":
            if name := _find_last(inner.indirection):
                return name, True
            return _find_name(inner.arg)
        case "func_call":
            return _find_last(inner.funcname), True
        case "a_expr" if inner.kind == _pb.AEXPR_NULLIF:
            return "nullif", True
        case "type_cast":
            name, is_good = _find_name(inner.arg)
            return (name, True) if is_good else (_find_last(inner.type_name.names), False)
        case "collate_clause":
            return _find_name(inner.arg)
        case "case_expr":
            name, is_good = (
                _find_name(inner.defresult) if inner.HasField("defresult") else ("", False)
            )
            return (name, True) if is_good else ("case", False)
        case "min_max_expr":
            return ("greatest" if inner.op == _pb.IS_GREATEST else "least"), True
        case "sqlvalue_function":
            operation = _pb.SQLValueFunctionOp.Name(inner.op)
            return operation.removeprefix("SVFOP_").removesuffix("_N").lower(), True
        case "sub_link" if inner.sub_link_type in _SUBLINKS:
            return _SUBLINKS[inner.sub_link_type], True
        case "sub_link" if inner.sub_link_type == _pb.EXPR_SUBLINK:
            return _name_first(inner.subselect.select_stmt), True
        case str() if kind in _NAMED_LIKE_THEMSELVES:
            return _NAMED_LIKE_THEMSELVES[kind], True
        case _:
            return "", False


def _name_first(statement: Any) -> str:
    """The name of a query's first output."""
    while statement.op != _pb.SETOP_NONE:
        statement = statement.larg
    if statement.values_lists:
        return "column1"
    # PostgreSQL refuses later a query without outputs.
    for target in statement.target_list[:1]:
        fields = target.res_target.val.column_ref.fields
        if not (fields and fields[-1].WhichOneof("node") == "a_star"):
            return target.res_target.name or name_output(target.res_target.val)
    return _UNKNOWN


def _find_last(names: Any) -> str:
    """The last part of a dotted name, without subscripts."""
    words = [name.string.sval for name in names if name.WhichOneof("node") == "string"]
    return words[-1] if words else ""
