"""Tells whether PostgreSQL and DuckDB would run a query that was written for SQLite.

SQLite takes any row of a group, compares texts with numbers, and has functions of its own. A query
is portable if it does nothing of this kind; unknown functions count as SQLite's own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from sqlglot import exp

from nl2sql.sql.column_kinds import Kind, find_kind

_FUNCTIONS = (
    exp.AggFunc,
    exp.Abs,
    exp.Cast,
    exp.Case,
    exp.Coalesce,
    exp.If,
    exp.Length,
    exp.Lower,
    exp.Round,
    exp.Upper,
    exp.And,
    exp.Or,
    exp.Exists,
)
_NUMBERS = ("integer", "numeric", "double precision")
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_NAMES: Mapping[Kind, str] = {
    "integer": "integer",
    "number": "numeric",
    "money": "numeric",
    "float": "double precision",
    "date": "date",
    "timestamp": "timestamp",
}


def translate_type(name: str) -> str:
    """A type of SQLite as PostgreSQL and DuckDB have it.

    >>> translate_type("VARCHAR(20)"), translate_type("NUMBER(3,0)"), translate_type("bigint")
    ('text', 'numeric', 'integer')
    """
    if name.lower() == "year":
        return "integer"  # MySQL's, in files that were made from its tables
    return _NAMES.get(find_kind(name, "sqlite"), "text")


def is_portable(tree: exp.Query, types: Mapping[str, Collection[str]]) -> bool:
    """Whether the query does nothing that only SQLite takes.

    ``types`` has those of the columns by their names in lower case, as ``translate_type`` gives
    them; columns of one name may have several.

    >>> from nl2sql.sql.parsing import parse_one
    >>> types = {"name": {"text"}, "age": {"integer"}}
    >>> def check(sql):
    ...     return is_portable(parse_one(sql, "sqlite"), types)
    >>> check("SELECT name, max(age) FROM t GROUP BY name"), check("SELECT name, max(age) FROM t")
    (True, False)
    >>> check("SELECT age FROM t WHERE name > 'K'"), check("SELECT age FROM t WHERE name > 9")
    (True, False)
    """
    if tree.find(exp.Div, exp.Glob):
        return False
    if any(not isinstance(node, _FUNCTIONS) for node in tree.find_all(exp.Func)):
        return False
    typed = tree.find_all(*_COMPARISONS, exp.Like, exp.In, exp.Sum, exp.Avg)
    if not all(_has_types(node, types) for node in typed):
        return False
    return all(_is_grouped(select) for select in tree.find_all(exp.Select))


def _has_types(node: exp.Expr, types: Mapping[str, Collection[str]]) -> bool:
    column, value = node.this, node.args.get("expression")
    if not isinstance(column, exp.Column) or column.name.lower() not in types:
        return True
    kinds = types[column.name.lower()]
    if len(kinds) > 1:
        return False
    (kind,) = kinds
    if isinstance(node, (exp.Sum, exp.Avg)):
        return kind in _NUMBERS
    if isinstance(node, exp.In):
        query = node.args.get("query")
        inner = query.this if isinstance(query, exp.Subquery) else None
        value = inner.expressions[0] if isinstance(inner, exp.Select) else None
    if isinstance(node, exp.Like):
        return kind == "text"
    if isinstance(value, exp.Column):
        others = types.get(value.name.lower(), kinds)
        return others == kinds or (kind in _NUMBERS and {*others} <= {*_NUMBERS})
    if not isinstance(value, exp.Literal):
        return True
    return (kind in _NUMBERS) != value.is_string


def _is_grouped(select: exp.Select) -> bool:
    """Whether all that is selected and sorted by is one value of each group."""
    group, order, having = (select.args.get(part) for part in ("group", "order", "having"))
    if any(isinstance(each, exp.Star) for each in select.expressions):
        return group is None and having is None
    aliases = {each.alias.lower() for each in select.expressions if each.alias}
    if having is not None and aliases & {each.name.lower() for each in having.find_all(exp.Column)}:
        return False
    sorted_by = list(order.expressions) if order else []
    parts = [*select.expressions, *sorted_by, *([having] if having else [])]
    if group is not None or any(map(_is_aggregate, parts)):
        fixed = group.expressions if group else []
    elif select.args.get("distinct"):
        parts, fixed = sorted_by, [c for each in select.expressions for c in _list_loose(each)]
    else:
        return True
    loose = (each for part in parts for each in _list_loose(part))
    return all(each.name.lower() in aliases or _is_among(each, fixed) for each in loose)


def _is_among(column: exp.Column, others: Iterable[exp.Expr]) -> bool:
    return any(
        isinstance(other, exp.Column)
        and other.name.lower() == column.name.lower()
        and (not other.table or not column.table or other.table.lower() == column.table.lower())
        for other in others
    )


def _list_loose(part: exp.Expr) -> Iterator[exp.Column]:
    """The columns of a part that no aggregate encloses, without those of subqueries."""
    if isinstance(part, (exp.AggFunc, exp.Query, exp.Subquery)):
        return
    if isinstance(part, exp.Column):
        yield part
        return
    for child in part.iter_expressions():
        yield from _list_loose(child)


def _is_aggregate(part: exp.Expr) -> bool:
    if isinstance(part, (exp.Query, exp.Subquery)):
        return False
    return isinstance(part, exp.AggFunc) or any(map(_is_aggregate, part.iter_expressions()))
