"""Names of things, instead of their keys."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.words import split_words
from repair.autocorrect.joining import add_join
from repair.autocorrect.levels import Level, Source, read_levels
from repair.derive.original import Original

_KEYS = frozenset({"id", "ids", "code", "number", "identifier", "key"})
_NAMES = frozenset({"name", "title"})


def shown_names(original: Original) -> Iterator[exp.Expr]:
    """``SELECT country_id FROM city`` becomes ``SELECT country.name FROM city JOIN country …``.

    Only if the question asks for no key. The name is the column ``name``, ``title`` or one that is
    called like its table.
    """
    if _KEYS & original.words:
        return
    for number, level in enumerate(original.levels):
        if not any(level is outer for outer in original.outermost):
            continue
        for output in level.select.expressions:
            column = output.unalias()
            owner = original.find_owner(column, level) if isinstance(column, exp.Column) else None
            if owner is not None and owner.table is not None:
                yield from _show(original, number, output, owner)


def _show(original: Original, number: int, output: exp.Expr, owner: Source) -> Iterator[exp.Expr]:
    visible, table = original.visible, owner.table
    assert table is not None
    key = visible.spell(output.unalias().this)
    if key == original.find_key(table) and (name := _find_name(table)):
        draft = original.draft()
        copy = read_levels(draft.tree, visible)[number]
        _replace(draft.of(output), original.build_column(owner, visible.fold(name)), copy)
        yield draft.tree
    for neighbour in visible.list_neighbours(table):
        name = _find_name(neighbour.table)
        refers = neighbour.key.target == neighbour.table.qualified and len(neighbour.pairs) == 1
        if not name or not refers or visible.fold(neighbour.pairs[0][0]) != key:
            continue
        draft = original.draft()
        copy = read_levels(draft.tree, visible)[number]
        there = _find_source(copy, neighbour.table)
        own = _find_source(copy, table)
        added = there or (add_join(copy, own, neighbour) if own else None)
        if added is not None:
            _replace(draft.of(output), original.build_column(added, visible.fold(name)), copy)
            yield draft.tree


def _replace(output: exp.Expr, column: exp.Column, level: Level) -> None:
    """Shows the column instead of the output, and groups by it too, which PostgreSQL requires."""
    output.replace(column)
    group = level.select.args.get("group")
    if group is not None and column not in group.expressions:
        group.append("expressions", column.copy())


def _find_source(level: Level, table: Table) -> Source | None:
    return next((source for source, own in level.list_tables() if own is table), None)


def _find_name(table: Table) -> str | None:
    """The column with the name of the table's rows."""
    own = set(split_words(table.name))
    for column in table.columns:
        words = split_words(column.name)
        if words and (set(words) == own or (words[-1] in _NAMES and set(words[:-1]) <= own)):
            return column.name
    return None
