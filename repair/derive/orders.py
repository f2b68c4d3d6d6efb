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
    for scope in original.scopes:
        order = scope.select.args.get("order")
        if order is not None and scope.select.args.get("limit") is not None:
            by = order.expressions[0]
            wanted = _wants_high(original, scope, by.this, is_early=is_early)
            if wanted is not None and wanted is not bool(by.args.get("desc")):
                draft = original.draft()
                ordered = exp.Ordered(this=by.this.copy(), desc=wanted, nulls_first=False)
                draft.of(by).replace(ordered)
                yield draft.tree
        for figure in find_all(scope.select, exp.Max, exp.Min):
            wanted = _wants_high(original, scope, figure.this, is_early=is_early)
            if figure.parent_select is scope.select and wanted is isinstance(figure, exp.Min):
                draft = original.draft()
                draft.of(figure).replace((exp.Max if wanted else exp.Min)(this=figure.this.copy()))
                yield draft.tree


def _wants_high(
    original: Original, scope: SelectScope, by: exp.Expr, *, is_early: bool
) -> bool | None:
    """Whether the rows that are meant have the highest values; None if it is no age or time."""
    column = original.find_column(by, scope)
    if column is None:
        return None
    if split_words(column.name)[-1:] == ["age"]:
        return is_early
    return not is_early if _is_time(column, original.visible.dialect) else None


def _is_time(column: Column, dialect: str) -> bool:
    is_year = not _YEARS.isdisjoint(split_words(column.name))
    return is_year or find_kind(column.type, dialect) in TIMES
