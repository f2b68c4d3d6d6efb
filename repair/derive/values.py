"""Stored values that the question mentions, and flags, in the place of other texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.sql.column_kinds import TEXTS, find_kind
from nl2sql.sql.nodes import find_all
from nl2sql.types import ValueMatch, spell_value
from repair.autocorrect.missing_tables import add_join, find_ways
from repair.autocorrect.select_scopes import SelectScope, read_scopes
from repair.derive.original import Original

_MOST_VALUES = 4
# What a query writes for yes and no, and other texts that may be stored for it.
_FLAGS = (
    (frozenset({"y", "yes", "true"}), ("1", "t", "true", "y", "yes")),
    (frozenset({"n", "no", "false"}), ("0", "f", "false", "n", "no")),
)


def grounded_values(original: Original) -> Iterator[exp.Expr]:
    """``type = 'Uniformed'`` becomes ``type = 'Uniform'``, or the column where the text is stored.

    Of a text that is stored in several spellings, all are meant: ``IN ('Uniform', 'UNIFORM')``.
    """
    said = {literal.this.casefold() for literal in find_all(original.tree, exp.Literal)}
    for match in _list_first(original)[:_MOST_VALUES]:
        table = next((t for t in original.visible.tables if t.qualified == match.table), None)
        if table is None:
            continue
        for number, scope in enumerate(original.scopes):
            for equal in _list_equal(scope):
                text, value = equal.expression.this.casefold(), match.value.casefold()
                # Another condition may use the value already.
                if text == value or value not in said:
                    yield from _ground(original, number, scope, equal, match, table)


def stored_flags(original: Original) -> Iterator[exp.Expr]:
    """``active = 'Yes'`` becomes ``LOWER(active) IN ('1', 't', 'true', 'y', 'yes')``.

    Not where the question mentions a value that is written so.
    """
    mentioned = {match.value.lower() for match in original.visible.values}
    draft, is_changed = original.draft(), False
    for scope in original.scopes:
        for equal in _list_equal(scope):
            column, text = original.find_column(equal.this, scope), equal.expression.this.lower()
            meant = [texts for written, texts in _FLAGS if text in written - mentioned]
            if column and meant and find_kind(column.type, original.visible.dialect) in TEXTS:
                flag = exp.Lower(this=equal.this.copy())
                draft.of(equal).replace(_build_condition(flag, meant[0]))
                is_changed = True
    if is_changed:
        yield draft.tree


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
    name = original.visible.fold(match.column)
    is_there = original.find_column(equal.this, scope) is table.column(match.column)
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


def _list_values(original: Original, match: ValueMatch) -> set[str]:
    """The stored values of the match's column that the question mentions."""
    return {
        other.value
        for other in original.visible.values
        if (other.table, other.column) == (match.table, match.column)
    }


def _build_condition(column: exp.Expr, spellings: Sequence[str]) -> exp.Expr:
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
