"""The order of rows: NULLs at its end or left out, and the end at which the oldest are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from nl2sql.catalog import Column
from nl2sql.sql.column_kinds import TIMES, find_kind
from nl2sql.sql.nodes import find_all
from nl2sql.words import split_words
from repair.autocorrect.select_scopes import SelectScope
from repair.derive.original import Original, add_condition

# Words for one end of an order by time, the early one first; those of ages.
_EARLY = re.compile(r"\b(?:oldest|eldest|earliest)\b", re.IGNORECASE)
_LATE = re.compile(r"\b(?:youngest|newest|latest|most recent)\b", re.IGNORECASE)
_OF_AGES = re.compile(r"\b(?:oldest|eldest|youngest)\b", re.IGNORECASE)
# The first order of the youngest customer is at another end.
_OTHER_END = re.compile(r"\b(?:first|last)\b", re.IGNORECASE)
_BIRTHS = frozenset({"birth", "birthday", "dob", "born"})
_YEARS = _BIRTHS | {"year"}
_AGES = _BIRTHS | {"age"}
# The words, beside those of its table, of a column that has the age of a row itself.
_OF_ROW = _AGES | {"date", "day", "year", "of"}


def nulls_last(original: Original) -> Iterator[exp.Expr]:
    """``ORDER BY price DESC LIMIT 3`` becomes ``… DESC NULLS LAST LIMIT 3`` on PostgreSQL.

    There a descending order begins with NULLs; on SQLite and DuckDB they come last. And of groups,
    ``GROUP BY lifeboat ORDER BY count(*) DESC LIMIT 1``, on all three, that of the rows without a
    lifeboat is left out.
    """
    for scope in original.scopes:
        order = scope.select.args.get("order")
        if order is None or scope.select.args.get("limit") is None:
            continue
        by = order.expressions[0]
        group = scope.select.args.get("group")
        if group is not None:
            keys, where = group.expressions, scope.select.args.get("where")
            limited = tuple(find_all(where, exp.Column)) if where is not None else ()
            if len(keys) == 1 and keys[0] not in limited and _may_be_null(keys[0], scope, original):
                draft = original.draft()
                is_there = exp.Not(this=keys[0].copy().is_(exp.null()))
                add_condition(draft.of(scope.select), is_there)
                yield draft.tree
            continue
        if not isinstance(by, exp.Ordered) or not _may_be_null(by.this, scope, original):
            continue
        is_postgres = original.visible.dialect == "postgres"
        if is_postgres and by.args.get("desc") and by.args.get("nulls_first"):
            draft = original.draft()
            draft.of(by).set("nulls_first", False)
            yield draft.tree


def _may_be_null(by: exp.Expr, scope: SelectScope, original: Original) -> bool:
    """True for a column that the table may leave empty."""
    column = original.find_column(by, scope)
    return column is not None and column.nullable


def oldest_first(original: Original) -> Iterator[exp.Expr]:
    """``ORDER BY age LIMIT 1``, for "the oldest", becomes ``ORDER BY age DESC LIMIT 1``.

    And ``min(age)`` becomes ``max(age)``. Of a day or a year, the oldest is the first. The oldest
    of a table with one column of births or ages is so by that column, not by another day.
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
            meant = _find_age(original, scope, by.this) or by.this
            wanted = _wants_high(original, scope, meant, is_early=is_early)
            if wanted is not None:
                ordered = exp.Ordered(this=meant.copy(), desc=wanted, nulls_first=False)
                is_right = meant is by.this and wanted is bool(by.args.get("desc"))
                yield None if is_right else _replace(original, by, ordered)
        for figure in find_all(scope.select, exp.Max, exp.Min):
            wanted = _wants_high(original, scope, figure.this, is_early=is_early)
            if wanted is not None and figure.parent_select is scope.select:
                turned = (exp.Max if wanted else exp.Min)(this=figure.this.copy())
                is_right = wanted is isinstance(figure, exp.Max)
                yield None if is_right else _replace(original, figure, turned)


def _find_age(original: Original, scope: SelectScope, by: exp.Expr) -> exp.Column | None:
    """The age in the table by another day of which it is sorted, if the question says none."""
    owner = original.find_owner(by, scope) if isinstance(by, exp.Column) else None
    column = original.find_column(by, scope)
    if owner is None or owner.table is None or column is None:
        return None
    if not _OF_AGES.search(original.question) or not _is_time(column, original.visible.dialect):
        return None
    if original.words & set(split_words(column.name)):
        return None
    own = _OF_ROW.union(split_words(owner.table.name))
    ages = [
        it.name
        for it in owner.table.columns
        if not _AGES.isdisjoint(words := split_words(it.name)) and own.issuperset(words)
    ]
    if len(ages) != 1 or column.name in ages:
        return None
    return original.build_column(owner, original.visible.fold(ages[0]))


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
