"""The order of rows: NULLs at its end, and the end at which the oldest are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from nl2sql.catalog import Column
from nl2sql.sql.column_kinds import TIMES, find_kind
from nl2sql.sql.nodes import find_all
from nl2sql.words import split_words
from repair.autocorrect.select_scopes import SelectScope
from repair.derive.original import Original

# Words for one end of an order by time, the early one first.
_EARLY = re.compile(r"\b(?:oldest|eldest|earliest)\b", re.IGNORECASE)
_LATE = re.compile(r"\b(?:youngest|newest|latest|most recent)\b", re.IGNORECASE)
# The first order of the youngest customer is at another end.
_OTHER_END = re.compile(r"\b(?:first|last)\b", re.IGNORECASE)
_YEARS = frozenset({"year", "birth", "birthday", "dob", "born"})


def nulls_last(original: Original) -> Iterator[exp.Expr]:
    """``ORDER BY price DESC LIMIT 3`` becomes ``… DESC NULLS LAST LIMIT 3`` on PostgreSQL.

    There a descending order begins with NULLs; on SQLite and DuckDB they come last.
    """
    if original.visible.dialect != "postgres":
        return
    for scope in original.scopes:
        order = scope.select.args.get("order")
        if order is None or scope.select.args.get("limit") is None:
            continue
        by = order.expressions[0]
        if not isinstance(by, exp.Ordered) or not _may_be_null(by.this, scope, original):
            continue
        if by.args.get("desc") and by.args.get("nulls_first"):
            draft = original.draft()
            draft.of(by).set("nulls_first", False)
            yield draft.tree


def _may_be_null(by: exp.Expr, scope: SelectScope, original: Original) -> bool:
    """True for a column that the table may leave empty."""
    column = original.find_column(by, scope)
    return column is not None and column.nullable


def oldest_first(original: Original) -> Iterator[exp.Expr]:
    """``ORDER BY age LIMIT 1``, for "the oldest", becomes ``ORDER BY age DESC LIMIT 1``.

    And ``min(age)`` becomes ``max(age)``. Of a day or a year, the oldest is the first.
    """
    is_early = _EARLY.search(original.question) is not None
    expected = original.expected
    if is_early == (_LATE.search(original.question) is not None):
        return
    if expected.highest is not None or expected.descending is not None:
        return
    if _OTHER_END.search(original.question):
        return
    ends = list(_turn_ends(original, is_early=is_early))
    # Of several ends the question means one.
    if len(ends) == 1 and ends[0] is not None:
        yield ends[0]


def _turn_ends(original: Original, *, is_early: bool) -> Iterator[exp.Expr | None]:
    """For each end of an age or a time the query with the other one; None if it is right."""
    for scope in original.scopes:
        order = scope.select.args.get("order")
        if order is not None and scope.select.args.get("limit") is not None:
            by = order.expressions[0]
            wanted = _wants_high(original, scope, by.this, is_early=is_early)
            if wanted is not None:
                ordered = exp.Ordered(this=by.this.copy(), desc=wanted, nulls_first=False)
                is_right = wanted is bool(by.args.get("desc"))
                yield None if is_right else _replace(original, by, ordered)
        for figure in find_all(scope.select, exp.Max, exp.Min):
            wanted = _wants_high(original, scope, figure.this, is_early=is_early)
            if wanted is not None and figure.parent_select is scope.select:
                turned = (exp.Max if wanted else exp.Min)(this=figure.this.copy())
                is_right = wanted is isinstance(figure, exp.Max)
                yield None if is_right else _replace(original, figure, turned)


def _replace(original: Original, node: exp.Expr, by: exp.Expr) -> exp.Expr:
    draft = original.draft()
    draft.of(node).replace(by)
    return draft.tree


def _wants_high(
    original: Original, scope: SelectScope, by: exp.Expr, *, is_early: bool
) -> bool | None:
    """Whether the rows that are meant have the highest values; None if it is no age or time."""
    column = original.find_column(by, scope)
    if column is None:
        return None
    words = split_words(column.name)
    if "age" in words:
        return is_early
    if column.name.lower().endswith("years") or column.name.lower().startswith("years"):
        return None
    return not is_early if _is_time(column, original.visible.dialect) else None


def _is_time(column: Column, dialect: str) -> bool:
    is_year = not _YEARS.isdisjoint(split_words(column.name))
    return is_year or find_kind(column.type, dialect) in TIMES
