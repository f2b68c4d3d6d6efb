"""Rows that hold now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from nl2sql.catalog import Column, Table
from nl2sql.sql.column_kinds import TIMES, find_kind
from nl2sql.sql.nodes import find_all, list_conjuncts
from nl2sql.words import split_words
from repair.autocorrect.select_scopes import SelectScope, SelectSource, find_clause
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
    a mark for it. The mark may be NULL too: ``to_date IS NULL`` where the question says "now", and
    where the query says so, the day is tried instead. If the column has no such mark, the query
    finds nothing, and does not win.
    """
    said = _NOW.search(original.question)
    texts = {text.this.casefold() for text in find_all(original.tree, exp.Literal)}
    # "Current accounts" are a kind of accounts.
    is_said = said is not None and said.group().casefold() not in texts
    if _HISTORY.search(original.question) or (not is_said and _PAST.search(original.question)):
        return
    ends = [
        (scope, column, end.nullable and is_open is None, is_open)
        for scope in original.scopes
        if _decides(original, scope) and (is_said or not _counts_periods(original, scope))
        for column, end, is_open in _list_ends(original, scope)
    ]
    if ends:
        late = [(scope, _build_late(column), is_open) for scope, column, _, is_open in ends]
        yield _restrict(original, late)
    if is_said and any(nullable for _, _, nullable, _ in ends):
        nulls = [
            (scope, column.is_(exp.null()), None) for scope, column, nullable, _ in ends if nullable
        ]
        yield _restrict(original, nulls)


def _decides(original: Original, scope: SelectScope) -> bool:
    """Whether the query finds nothing if this SELECT has no row."""
    select = scope.select
    if any(join.side for join in select.args.get("joins") or ()):
        return False
    if scope in original.outermost:
        if not isinstance(original.tree, exp.SetOperation):
            return True
        # Parts of a UNION that read the same tables are restricted alike.
        read = ({table.qualified for _, table in each.list_tables()} for each in original.outermost)
        is_union = not original.tree.find(exp.Except, exp.Intersect)
        return is_union and len(set(map(frozenset, read))) == 1
    clause = find_clause(select)
    is_needed = clause in ("from_", "joins") or (clause == "where" and not select.find(exp.Count))
    return is_needed and select.find_ancestor(exp.Not, exp.SetOperation) is None


def _counts_periods(original: Original, scope: SelectScope) -> bool:
    """Whether rows with a period are what is counted: "Who has had the most titles?"."""
    if scope.select.find(exp.Count) is None:
        return False
    asked = split_words(original.question)
    return any(
        find_period(table, original.visible.dialect) and split_words(table.name)[-1] in asked
        for _, table in scope.list_tables()
    )


def _build_late(column: exp.Column) -> exp.Expr:
    return exp.GTE(this=column, expression=exp.Literal.string(_OPEN_END))


def _restrict(
    original: Original, found: Sequence[tuple[SelectScope, exp.Expr, exp.Is | None]]
) -> exp.Expr:
    """The query with these conditions, each in place of the one beside it."""
    draft = original.draft()
    for scope, condition, replaced in found:
        if replaced is not None:
            draft.of(replaced).replace(condition)
        else:
            add_condition(draft.of(scope.select), condition)
    return draft.tree


def _list_ends(
    original: Original, scope: SelectScope
) -> Iterator[tuple[exp.Column, Column, exp.Is | None]]:
    """The end of the period of each source of whose period the query says nothing.

    Or only that its end IS NULL: then with this condition.
    """
    for source, table in scope.list_tables():
        period = find_period(table, original.visible.dialect)
        is_open = _find_open(original, scope, source)
        used = {
            original.visible.spell(column.this)
            for column in original.uses[id(source)]
            if is_open is None or column is not is_open.this
        }
        if period and used.isdisjoint(original.visible.fold(column.name) for column in period):
            end = period[1]
            if is_open is None or original.find_column(is_open.this, scope) is end:
                column = original.build_column(source, original.visible.fold(end.name))
                yield column, end, is_open


def _find_open(original: Original, scope: SelectScope, source: SelectSource) -> exp.Is | None:
    """The only condition of WHERE that a column of the source IS NULL."""
    where = scope.select.args.get("where")
    found = [
        part
        for part in (list_conjuncts(where.this) if where is not None else ())
        if isinstance(part, exp.Is)
        and not part.args.get("negate")
        and isinstance(part.this, exp.Column)
        and isinstance(part.expression, exp.Null)
        and original.find_owner(part.this, scope) is source
    ]
    return found[0] if len(found) == 1 else None


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
