"""Rows that hold now, and dates in a year or month that has an end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date

from sqlglot import exp

from nl2sql.catalog import Column, Table
from nl2sql.languages.english import MONTH_WORDS
from nl2sql.sql.column_kinds import TIMES, find_kind
from nl2sql.sql.expression_form import list_conjuncts
from nl2sql.sql.nodes import find_all
from nl2sql.words import split_words
from repair.autocorrect.select_scopes import SelectScope, find_clause
from repair.derive.original import Original, add_condition

# A column whose name has one of the first words, and one whose name has a second in its place.
_PERIODS = (
    ("from", "to until till thru through"),
    ("start started begin effective", "end ended stop expiry expiration"),
    ("hire hired joined", "left termination terminated end"),
    ("assigned opened open", "until closed ended"),
)
_FIRST_WORDS = {first: last.split() for firsts, last in _PERIODS for first in firsts.split()}
# SQLite does not know the types of all columns of a view.
_KINDS = TIMES | {""}
# Later days say that a row still holds, as 9999-12-31 does.
_OPEN_END = "9000-01-01"
_NOW = re.compile(
    r"\b(?:now|nowadays|today|current|currently|present|presently|at the moment)\b",
    re.IGNORECASE,
)
_HISTORY = re.compile(
    r"\b(?:ever|never|former|formerly|previous|previously|past|history|historical|before|used to"
    r"|no longer|any ?more|over time|of all time|changes?)\b",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"\b(?:was|were|did|had|been|last|ago|since|after|until|left|(?:19|20)\d\d|[a-z]+ed)\b",
    re.IGNORECASE,
)


def present_rows(original: Original) -> Iterator[exp.Expr]:
    """Adds ``to_date >= '9000-01-01'`` for tables with a period, ``from_date`` to ``to_date``.

    A question that says nothing of the past means what holds now, and a day so late is no day but
    a mark for it. The mark may be NULL too: ``to_date IS NULL`` where the question says "now". If
    the column has no such mark, the query finds nothing, and does not win.
    """
    is_said = _NOW.search(original.question) is not None
    if _HISTORY.search(original.question) or (not is_said and _PAST.search(original.question)):
        return
    ends = [
        (scope, column, end.nullable)
        for scope in original.scopes
        if _decides(original, scope)
        for column, end in _list_ends(original, scope)
    ]
    if ends:
        yield _restrict(original, [(scope, _build_late(column)) for scope, column, _ in ends])
    if is_said and any(nullable for *_, nullable in ends):
        nulls = [(scope, column.is_(exp.null())) for scope, column, nullable in ends if nullable]
        yield _restrict(original, nulls)


def _decides(original: Original, scope: SelectScope) -> bool:
    """Whether the query finds nothing if this SELECT has no row."""
    select = scope.select
    if any(join.side for join in select.args.get("joins") or ()):
        return False
    if scope in original.outermost:
        return not isinstance(original.tree, exp.SetOperation)
    clause = find_clause(select)
    is_needed = clause in ("from_", "joins") or (clause == "where" and not select.find(exp.Count))
    return is_needed and select.find_ancestor(exp.Not, exp.SetOperation) is None


def _build_late(column: exp.Column) -> exp.Expr:
    return exp.GTE(this=column, expression=exp.Literal.string(_OPEN_END))


def _restrict(original: Original, found: Sequence[tuple[SelectScope, exp.Expr]]) -> exp.Expr:
    draft = original.draft()
    for scope, condition in found:
        add_condition(draft.of(scope.select), condition)
    return draft.tree


def _list_ends(original: Original, scope: SelectScope) -> Iterator[tuple[exp.Column, Column]]:
    """The end of the period of each source of whose period the query says nothing."""
    for source, table in scope.list_tables():
        period = find_period(table, original.visible.dialect)
        used = {original.visible.spell(column.this) for column in original.uses[id(source)]}
        if period and used.isdisjoint(original.visible.fold(column.name) for column in period):
            end = period[1]
            yield original.build_column(source, original.visible.fold(end.name)), end


def find_period(table: Table, dialect: str) -> tuple[Column, Column] | None:
    """The columns of the first and the last day for which a row holds; None without them.

    >>> days = [Column(name, "date") for name in ("valid_from", "valid_to", "paid_on")]
    >>> [column.name for column in find_period(Table("s", "t", tuple(days)), "postgres")]
    ['valid_from', 'valid_to']
    >>> find_period(Table("s", "t", tuple(days[1:])), "postgres")
    """
    times = {
        tuple(split_words(column.name)): column
        for column in table.columns
        if find_kind(column.type, dialect) in _KINDS
    }
    for words, first in times.items():
        for at, word in enumerate(words):
            for other in _FIRST_WORDS.get(word, ()):
                last = times.get((*words[:at], other, *words[at + 1 :]))
                if last is not None:
                    return first, last
    return None


_SPAN = re.compile(
    rf"\b(?:in|during|of|for)\s+(?:the\s+)?(?:year\s+)?(?:(?P<month>{'|'.join(MONTH_WORDS)})\s+)?"
    r"(?P<year>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_UNBOUNDED = re.compile(r"\b(?:since|after|before|until|till|between|onwards?|later|earlier)\b")
_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_DAY = re.compile(r"(\d{4})-\d\d-\d\d")


def closed_spans(original: Original) -> Iterator[exp.Expr]:
    """``joined >= '2022-01-01'`` alone, for "in 2022", also gets ``joined < '2023-01-01'``."""
    span = _read_span(original.question)
    if span is None:
        return
    for scope in original.scopes:
        where = scope.select.args.get("where")
        parts = [] if where is None else list_conjuncts(where.this)
        for part in parts:
            column = _find_compared(original, scope, part, span)
            if column is None or sum(column in find_all(it, exp.Column) for it in parts) != 1:
                continue
            first, after = (exp.Literal.string(day.isoformat()) for day in span)
            draft = original.draft()
            low = exp.GTE(this=column.copy(), expression=first)
            high = exp.LT(this=column.copy(), expression=after)
            draft.of(part).replace(exp.And(this=low, expression=high))
            yield draft.tree


def _read_span(question: str) -> tuple[date, date] | None:
    """The first day of the only year or month of the question, and the day after its last.

    >>> [day.isoformat() for day in _read_span("How many joined in December 2022?")]
    ['2022-12-01', '2023-01-01']
    >>> _read_span("How many joined since 2022?"), _read_span("in 2022 and in 2023")
    (None, None)
    """
    found = _SPAN.search(question)
    if found is None or len(_YEAR.findall(question)) != 1 or _UNBOUNDED.search(question.lower()):
        return None
    year = int(found["year"])
    if not found["month"]:
        return date(year, 1, 1), date(year + 1, 1, 1)
    month = MONTH_WORDS[found["month"].capitalize()]
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def _find_compared(
    original: Original, scope: SelectScope, part: exp.Expr, span: tuple[date, date]
) -> exp.Column | None:
    """The column of dates that is compared with a day at an end of the span."""
    if not isinstance(part, _COMPARISONS) or not isinstance(part.this, exp.Column):
        return None
    other = part.expression.this if isinstance(part.expression, exp.Cast) else part.expression
    if not isinstance(other, exp.Literal) or (day := _DAY.fullmatch(other.this)) is None:
        return None
    column = original.find_column(part.this, scope)
    is_time = column is not None and find_kind(column.type, original.visible.dialect) in TIMES
    return part.this if is_time and int(day[1]) in {day.year for day in span} else None
