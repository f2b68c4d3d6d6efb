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
_OF_AGES = re.compile(r"\b(?:oldest|eldest|youngest)\s+(\w+)", re.IGNORECASE)
# Whoever asks so may mean the rows without a value.
_NO_VALUE = re.compile(
    r"\b(?:(?:no|not|none)\b|without|missing|lack|includ|unknown|unassigned|null|empty|blank)|n['\u2019]t\b",
    re.IGNORECASE,
)
# Those whose age is that of their life: the oldest customer may be who came first.
_PERSONS = frozenset(
    """person people man men woman women boy girl child children employee worker manager driver
    pilot teacher student professor doctor nurse patient passenger survivor victim player athlete
    author artist actor singer candidate president""".split()
)
_OTHER_AGE = frozenset("by service contract joined hired tenure seniority experience".split())
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
    lifeboat is left out where the question asks for the highest.
    """
    is_postgres = original.visible.dialect == "postgres"
    for scope in original.scopes:
        order = scope.select.args.get("order")
        if order is None or scope.select.args.get("limit") is None:
            continue
        by, draft = order.expressions[0], original.draft()
        if not isinstance(by, exp.Ordered) or not by.args.get("desc"):
            continue
        if (key := _find_best_group(original, scope)) is not None:
            add_condition(draft.of(scope.select), exp.Not(this=key.copy().is_(exp.null())))
            yield draft.tree
        elif is_postgres and by.args.get("nulls_first") and _may_be_null(by.this, scope, original):
            draft.of(by).set("nulls_first", False)
            yield draft.tree


def _find_best_group(original: Original, scope: SelectScope) -> exp.Expr | None:
    """The key of the one group that is asked for, with the most, if that may be NULL."""
    args, expected = scope.select.args, original.expected
    keys = args["group"].expressions if args.get("group") is not None else []
    is_first = args["limit"].args.get("expression") == exp.Literal.number(1)
    is_asked = expected.highest and expected.rows in (None, 1)
    if len(keys) != 1 or not is_first or args.get("offset") is not None or not is_asked:
        return None
    if _NO_VALUE.search(original.question):
        return None
    where = args.get("where")
    limited = {it.name for it in find_all(where, exp.Column)} if where is not None else set()
    is_free = keys[0].name not in limited and _may_be_null(keys[0], scope, original)
    return keys[0] if is_free else None


def _may_be_null(by: exp.Expr, scope: SelectScope, original: Original) -> bool:
    """True for a column that the table may leave empty."""
    column = original.find_column(by, scope)
    return column is not None and column.nullable


def oldest_first(original: Original) -> Iterator[exp.Expr]:
    """``ORDER BY age LIMIT 1``, for "the oldest", becomes ``ORDER BY age DESC LIMIT 1``.

    And ``min(age)`` becomes ``max(age)``. Of a day or a year, the oldest is the first. The oldest
    person in a table with one column of births or ages is so by it, not by another day.
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
    """The age of a person by another day of whose table it is sorted, if the question says none."""
    owner = original.find_owner(by, scope) if isinstance(by, exp.Column) else None
    column = original.find_column(by, scope)
    if owner is None or owner.table is None or column is None:
        return None
    aged = {word for text in _OF_AGES.findall(original.question) for word in split_words(text)}
    if not aged or not aged <= _PERSONS or not _is_time(column, original.visible.dialect):
        return None
    if original.words & _OTHER_AGE.union(split_words(column.name)):
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
