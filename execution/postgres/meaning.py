"""The check of meaning: what runs is, to PostgreSQL, what the query says.

sqlglot reads the query and writes the text that runs. Whatever it reads otherwise than the server
would silently change the answer. So PostgreSQL's own grammar reads both texts, and the two trees
must be equal, node for node, but for what the guard changes on purpose: a table's name in full or
its wrapper in its place, new names of CTEs, names for the columns of functions, columns added to
GROUP BY (``grouping.py``); and but for two spellings of one thing, which ``_Comparison`` lists.

Shares no code with sqlglot. Does not check that a wrapper is right: ``second_check.py`` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import postgast
from google.protobuf.descriptor import FieldDescriptor

from execution.postgres.trees import PLACES, parse_statement
from nl2sql.catalog import Catalog
from nl2sql.types import Violation

_MESSAGE = FieldDescriptor.TYPE_MESSAGE
_PG = postgast.pg_query_pb2
# A frame's clause was spelled with BETWEEN.
_FRAME_BETWEEN = 0x10
_LONGEST_FRAGMENT = 40
# ``a NOT IN b`` and its kin, which sqlglot writes as ``NOT a IN b``.
_NEGATIVES = {
    (_PG.AEXPR_IN, "<>"): (_PG.AEXPR_IN, "="),
    (_PG.AEXPR_LIKE, "!~~"): (_PG.AEXPR_LIKE, "~~"),
    (_PG.AEXPR_ILIKE, "!~~*"): (_PG.AEXPR_ILIKE, "~~*"),
    (_PG.AEXPR_SIMILAR, "!~"): (_PG.AEXPR_SIMILAR, "~"),
    (_PG.AEXPR_NOT_BETWEEN, "NOT BETWEEN"): (_PG.AEXPR_BETWEEN, "BETWEEN"),
    (_PG.AEXPR_NOT_BETWEEN_SYM, "NOT BETWEEN SYMMETRIC"): (
        _PG.AEXPR_BETWEEN_SYM,
        "BETWEEN SYMMETRIC",
    ),
}
_NEGATIVE_TESTS = {_PG.IS_NOT_TRUE: _PG.IS_TRUE, _PG.IS_NOT_FALSE: _PG.IS_FALSE}
_UNKNOWNS = {_PG.IS_UNKNOWN: _PG.IS_NULL, _PG.IS_NOT_UNKNOWN: _PG.IS_NOT_NULL}

_Ctes = Mapping[str, str]
"""The name of each visible CTE in the query → its name in the text that runs."""


def check_meaning(
    query: str, statement: Any, catalog: Catalog, find_wrapped: Callable[[Any], str]
) -> Violation | None:
    """Returns None if ``statement``, the SelectStmt that runs, means what ``query`` means.

    ``find_wrapped`` tells the qualified name of the table that a SelectStmt is the wrapper of, or
    an empty text. ``query`` may have comments.
    """
    original = parse_statement(query)
    if isinstance(original, Violation):
        return original
    try:
        _Comparison(catalog, find_wrapped).compare(original.stmt, statement, {})
    except _Different as difference:
        fragment = _quote(difference.node, query)
        return Violation(
            "reads_differently",
            fragment,
            f"At {fragment!r} PostgreSQL would not read what was meant: write it in another way.",
        )
    return None


class _Different(Exception):
    def __init__(self, node: Any) -> None:
        super().__init__(type(node).__name__)
        self.node = node


class _Comparison:
    """One walk over both trees: ``ours`` is of the query, ``theirs`` of the text that runs."""

    def __init__(self, catalog: Catalog, find_wrapped: Callable[[Any], str]) -> None:
        self._catalog = catalog
        self._find_wrapped = find_wrapped
        self._special: Mapping[str, Callable[[Any, Any, _Ctes], None]] = {
            "SelectStmt": self._compare_queries,
            "RangeVar": self._compare_tables,
            "RangeFunction": self._compare_functions,
            "ColumnRef": self._compare_columns,
            "SortBy": self._compare_orders,
            "WindowDef": self._compare_windows,
            "Float": self._compare_numbers,
            "FuncCall": self._compare_named,
            "A_Expr": self._compare_named,
            "TypeName": self._compare_named,
        }

    def compare(self, ours: Any, theirs: Any, ctes: _Ctes) -> None:
        """Raises _Different with the innermost node of ``ours`` that has no equal."""
        ours, theirs = postgast.unwrap_node(ours), postgast.unwrap_node(theirs)
        kind = type(ours).__name__
        if kind != type(theirs).__name__:
            if kind == "RangeVar" and type(theirs).__name__ == "RangeSubselect":
                return self._compare_wrapped(ours, theirs, ctes)
            ours, theirs = _make_alike(ours, theirs)
            if type(ours) is not type(theirs):
                raise _Different(ours)
            kind = type(ours).__name__
        if special := self._special.get(kind):
            return special(ours, theirs, ctes)
        return self._compare_fields(ours, theirs, ctes)

    def _compare_fields(self, ours: Any, theirs: Any, ctes: _Ctes, *done: str) -> None:
        mine = {field.name: (field, value) for field, value in ours.ListFields()}
        yours = {field.name: value for field, value in theirs.ListFields()}
        names = mine.keys() | yours.keys()
        for name in sorted(names - PLACES - set(done)):
            if name not in mine or name not in yours:
                raise _Different(ours)
            field, value = mine[name]
            if field.type != _MESSAGE:
                if value != yours[name]:
                    raise _Different(ours)
            elif field.is_repeated:
                self._compare_lists(value, yours[name], ctes, ours)
            else:
                self.compare(value, yours[name], ctes)

    def _compare_lists(
        self, ours: Sequence[Any], theirs: Sequence[Any], ctes: _Ctes, around: Any
    ) -> None:
        if len(ours) != len(theirs):
            raise _Different(around)
        for mine, yours in zip(ours, theirs, strict=True):
            self.compare(mine, yours, ctes)

    # -- what the guard changes on purpose -----------------------------------------------------

    def _compare_queries(self, ours: Any, theirs: Any, ctes: _Ctes) -> None:
        ctes = self._compare_ctes(ours, theirs, ctes)
        if ours.values_lists:
            theirs = _take_values(theirs)
        groups = theirs.group_clause[: len(ours.group_clause)]
        added = theirs.group_clause[len(ours.group_clause) :]
        if added and not (groups and all(node.HasField("column_ref") for node in added)):
            raise _Different(ours)
        self._compare_lists(ours.group_clause, groups, ctes, ours)
        self._compare_fields(ours, theirs, ctes, "with_clause", "group_clause")

    def _compare_ctes(self, ours: Any, theirs: Any, ctes: _Ctes) -> _Ctes:
        mine, yours = ours.with_clause, theirs.with_clause
        if mine.recursive != yours.recursive or len(mine.ctes) != len(yours.ctes):
            raise _Different(ours)
        pairs = [
            (one.common_table_expr, other.common_table_expr)
            for one, other in zip(mine.ctes, yours.ctes, strict=True)
        ]
        within = dict(ctes)
        if mine.recursive:
            within |= {one.ctename: other.ctename for one, other in pairs}
        for one, other in pairs:
            self._compare_fields(one, other, within, "ctename")
            within[one.ctename] = other.ctename
        return within

    def _compare_tables(self, ours: Any, theirs: Any, ctes: _Ctes) -> None:
        name = f"{theirs.schemaname}.{theirs.relname}" if theirs.schemaname else ""
        if name:
            self._check_table(ours, name, ctes)
        elif ours.schemaname or ctes.get(ours.relname) != theirs.relname:
            raise _Different(ours)
        if ours.inh != theirs.inh:
            raise _Different(ours)
        _check_alias(ours, theirs)

    def _compare_wrapped(self, ours: Any, theirs: Any, ctes: _Ctes) -> None:
        name = self._find_wrapped(theirs.subquery.select_stmt)
        if theirs.lateral or not ours.inh:
            raise _Different(ours)
        self._check_table(ours, name, ctes)
        _check_alias(ours, theirs)

    def _check_table(self, ours: Any, name: str, ctes: _Ctes) -> None:
        """Raises _Different unless the server finds that table under the name in the query."""
        is_cte = not ours.schemaname and ours.relname in ctes
        table = self._catalog.resolve(ours.relname, ours.schemaname)
        if is_cte or ours.catalogname or table is None or table.qualified != name:
            raise _Different(ours)

    def _compare_functions(self, ours: Any, theirs: Any, ctes: _Ctes) -> None:
        self._compare_fields(ours, theirs, ctes, "alias")
        mine, yours = ours.alias, theirs.alias
        if mine.aliasname not in ("", yours.aliasname):
            raise _Different(ours)
        self._compare_lists(mine.colnames, yours.colnames[: len(mine.colnames)], ctes, ours)

    def _compare_columns(self, ours: Any, theirs: Any, ctes: _Ctes) -> None:
        # The schema is left out: the table has an alias now.
        fields = ours.fields[1:] if len(ours.fields) > len(theirs.fields) else ours.fields
        self._compare_lists(fields, theirs.fields, ctes, ours)

    # -- two spellings of one thing ------------------------------------------------------------

    def _compare_orders(self, ours: Any, theirs: Any, ctes: _Ctes) -> None:
        self._compare_fields(ours, theirs, ctes, "sortby_dir", "sortby_nulls")
        if _read_order(ours) != _read_order(theirs):
            raise _Different(ours)

    def _compare_windows(self, ours: Any, theirs: Any, ctes: _Ctes) -> None:
        # ROWS 2 PRECEDING is short for BETWEEN 2 PRECEDING AND CURRENT ROW.
        if (ours.frame_options ^ theirs.frame_options) & ~_FRAME_BETWEEN:
            raise _Different(ours)
        self._compare_fields(ours, theirs, ctes, "frame_options")

    def _compare_numbers(self, ours: Any, theirs: Any, _ctes: _Ctes) -> None:
        if _read_number(ours.fval) != _read_number(theirs.fval):
            raise _Different(ours)

    def _compare_named(self, ours: Any, theirs: Any, ctes: _Ctes) -> None:
        """Functions, operators and types, of which those of pg_catalog come first anyway."""
        key = {"FuncCall": "funcname", "A_Expr": "name", "TypeName": "names"}[type(ours).__name__]
        mine, yours = (_list_strings(getattr(node, key)) for node in (ours, theirs))
        if mine != yours:
            raise _Different(ours)
        self._compare_fields(ours, theirs, ctes, key)


def _take_values(query: Any) -> Any:
    """``SELECT * FROM (VALUES …) AS _values``, as sqlglot writes it in CTEs, as ``VALUES …``."""
    if len(query.from_clause) != 1 or len(query.target_list) != 1:
        return query
    inner = query.from_clause[0].range_subselect.subquery.select_stmt
    star = query.target_list[0].res_target.val.column_ref.fields
    if not inner.values_lists or len(star) != 1 or not star[0].HasField("a_star"):
        return query
    taken = _PG.SelectStmt()
    taken.CopyFrom(query)
    taken.ClearField("from_clause")
    taken.ClearField("target_list")
    taken.values_lists.MergeFrom(inner.values_lists)
    return taken


def _make_alike(ours: Any, theirs: Any) -> tuple[Any, Any]:
    """Both as nodes of one kind, if they are two spellings of one thing; else as they are."""
    kind, test = type(ours).__name__, type(theirs).__name__
    if kind == "BooleanTest" and test == "NullTest" and ours.booltesttype in _UNKNOWNS:
        known = _UNKNOWNS[ours.booltesttype]
        return _PG.NullTest(arg=ours.arg, nulltesttype=known), theirs
    if test != "BoolExpr" or theirs.boolop != _PG.NOT_EXPR:
        return ours, theirs
    inner = postgast.unwrap_node(theirs.args[0])
    if kind == "A_Expr":
        key = (ours.kind, ".".join(_list_strings(ours.name)))
        if key in _NEGATIVES:
            positive = _PG.A_Expr()
            positive.CopyFrom(ours)
            positive.kind, positive.name[0].string.sval = _NEGATIVES[key]
            return positive, inner
    if kind == "BooleanTest" and ours.booltesttype in _NEGATIVE_TESTS:
        known = _NEGATIVE_TESTS[ours.booltesttype]
        return _PG.BooleanTest(arg=ours.arg, booltesttype=known), inner
    if kind == "BooleanTest" and ours.booltesttype == _PG.IS_NOT_UNKNOWN:
        return _PG.NullTest(arg=ours.arg, nulltesttype=_PG.IS_NULL), inner
    return ours, theirs


def _check_alias(ours: Any, theirs: Any) -> None:
    """Raises _Different unless the table is called as in the query, and its columns too."""
    names = _list_strings(ours.alias.colnames), _list_strings(theirs.alias.colnames)
    if (ours.alias.aliasname or ours.relname) != theirs.alias.aliasname or names[0] != names[1]:
        raise _Different(ours)


def _read_order(order: Any) -> tuple[bool, bool]:
    """Whether an order is falling, and whether it sorts NULL first."""
    is_falling = order.sortby_dir == _PG.SORTBY_DESC
    if order.sortby_nulls == _PG.SORTBY_NULLS_DEFAULT:
        return is_falling, is_falling
    return is_falling, order.sortby_nulls == _PG.SORTBY_NULLS_FIRST


def _read_number(text: str) -> str:
    """A number in decimal digits, with the decimal places that were written."""
    text = text.replace("_", "").lower()
    if text[:2] in ("0x", "0o", "0b"):
        return str(int(text, 0))
    return text.replace(".", "0.", 1) if text.lstrip("-").startswith(".") else text


def _list_strings(nodes: Sequence[Any]) -> list[str]:
    names = [node.string.sval for node in nodes]
    return names[1:] if len(names) == 2 and names[0] == "pg_catalog" else names


def _quote(node: Any, query: str) -> str:
    """The query's text where the node stands, or the kind of node if that is unknown."""
    at = getattr(node, "location", 0)
    if at <= 0:
        return type(node).__name__
    if type(node).__name__ == "A_Expr":
        return _list_strings(node.name)[-1]
    return query.encode()[at:].decode(errors="ignore").split("\n")[0][:_LONGEST_FRAGMENT]
