"""Stored values that the question mentions, in the place of other texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.sql.nodes import find_all
from nl2sql.types import ValueMatch, spell_value
from repair.autocorrect.missing_tables import add_join, find_ways
from repair.autocorrect.select_scopes import SelectScope, read_scopes
from repair.derive.original import Original, add_condition

_MOST_VALUES = 4


def grounded_values(original: Original) -> Iterator[exp.Expr]:
    """``type = 'Uniformed'`` becomes ``type = 'Uniform'``, or the column where the text is stored.

    A value that no condition uses is added as one. Of a text that is stored in several spellings,
    all are meant: ``type IN ('Uniform', 'UNIFORM')``.
    """
    said = {literal.this.casefold() for literal in find_all(original.tree, exp.Literal)}
    for match in _list_first(original)[:_MOST_VALUES]:
        table = next((t for t in original.visible.tables if t.qualified == match.table), None)
        if table is None:
            continue
        for number, scope in enumerate(original.scopes):
            for equal in _list_equal(scope):
                if _is_used(match, equal, said):
                    continue
                yield from _ground(original, number, scope, equal, match, table)
        if match.value.casefold() not in said and not _is_compared(original, match, table):
            yield from _add(original, match, table)


def _list_first(original: Original) -> list[ValueMatch]:
    """The matches, of several spellings of one text in a column only the first."""
    return [
        match
        for match in original.visible.values
        if match.value == spell_value(match, original.visible.values)[0]
    ]


def _list_equal(scope: SelectScope) -> list[exp.Binary]:
    where = scope.select.args.get("where")
    if where is None:
        return []
    return [
        node
        for node in find_all(where, exp.EQ, exp.Like)
        if isinstance(node.this, exp.Column)
        and isinstance(node.expression, exp.Literal)
        and node.expression.is_string
        and node.find_ancestor(exp.Select) is scope.select
    ]


def _ground(
    original: Original,
    number: int,
    scope: SelectScope,
    equal: exp.Binary,
    match: ValueMatch,
    table: Table,
) -> Iterator[exp.Expr]:
    assert isinstance(equal.this, exp.Column)
    owner = original.find_owner(equal.this, scope)
    name = original.visible.fold(match.column)
    is_there = (
        owner is not None
        and owner.table is table
        and original.visible.spell(equal.this.this) == name
    )
    spellings = spell_value(match, original.visible.values)
    literal = equal.expression.this
    is_one = literal not in spellings or len(spellings) == 1
    if is_there and is_one and literal in _list_values(original, match):
        return
    draft = original.draft()
    copy = draft.of(equal)
    column = reach_column(original, draft.tree, number, table, name)
    if column is not None:
        copy.replace(_build_condition(column, spellings))
        yield draft.tree


def _is_used(match: ValueMatch, equal: exp.Binary, said: set[str]) -> bool:
    """True if another condition uses the value."""
    value = match.value.casefold()
    return value in said and equal.expression.this.casefold() != value


def _list_values(original: Original, match: ValueMatch) -> set[str]:
    """The stored values of the match's column that the question mentions."""
    return {
        other.value
        for other in original.visible.values
        if (other.table, other.column) == (match.table, match.column)
    }


def _is_compared(original: Original, match: ValueMatch, table: Table) -> bool:
    """True if a condition compares the column already."""
    return any(
        isinstance(equal.this, exp.Column)
        and original.visible.spell(equal.this.this) == original.visible.fold(match.column)
        and (owner := original.find_owner(equal.this, scope)) is not None
        and owner.table is table
        for scope in original.scopes
        for equal in _list_equal(scope)
    )


def _add(original: Original, match: ValueMatch, table: Table) -> Iterator[exp.Expr]:
    draft = original.draft()
    name = original.visible.fold(match.column)
    column = reach_column(original, draft.tree, 0, table, name)
    if column is not None:
        select = read_scopes(draft.tree, original.visible)[0].select
        spellings = spell_value(match, original.visible.values)
        add_condition(select, _build_condition(column, spellings))
        yield draft.tree


def _build_condition(column: exp.Column, spellings: Sequence[str]) -> exp.Expr:
    texts = [exp.Literal.string(text) for text in spellings]
    if len(texts) == 1:
        return exp.EQ(this=column, expression=texts[0])
    return exp.In(this=column, expressions=texts)


def reach_column(
    original: Original, tree: exp.Expr, number: int, table: Table, name: str
) -> exp.Column | None:
    """The column of the table, which is joined if one key leads there."""
    scope = read_scopes(tree, original.visible)[number]
    present = [source for source, own in scope.list_tables() if own is table]
    if not present:
        way = original.visible.choose(find_ways(scope, lambda own: own is table))
        added = add_join(scope, *way) if way is not None else None
        if added is None:
            return None
        present = [added]
    return original.build_column(present[0], name)
