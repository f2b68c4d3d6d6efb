"""Joins one more table to a SELECT over a key."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.catalog import Table
from repair.autocorrect.levels import Level, Source
from repair.autocorrect.table_lookup import Neighbour, TableLookup


def add_join(level: Level, source: Source, neighbour: Neighbour, side: str = "") -> Source | None:
    """Joins a neighbour of ``source``, in place; None if its name is used or a ``*`` would grow.

    ``side`` is that of the join, such as LEFT. Unqualified columns that the new table has too are
    qualified first, to keep their meaning.
    """
    select, visible, table = level.select, level.visible, neighbour.table
    name = visible.fold(table.name)
    if level.find_source(name) or any(
        isinstance(expression, exp.Star) for expression in select.expressions
    ):
        return None
    columns = frozenset(visible.list_columns(table))
    _qualify(level, columns)
    added = Source(visible.build_identifier(table.name), table, columns)
    condition = build_condition(source, added, neighbour, visible)
    join = exp.Join(this=visible.build_table(table), on=condition, side=side or None)
    select.append("joins", join)
    level.sources[name] = added
    return added


def build_condition(
    source: Source, added: Source, neighbour: Neighbour, visible: TableLookup
) -> exp.Expr:
    """The condition that joins a source with a neighbour of its table."""
    pairs = (
        (_build_column(source, own, visible), _build_column(added, other, visible))
        for own, other in neighbour.pairs
    )
    return exp.and_(*(exp.EQ(this=left, expression=right) for left, right in pairs), copy=False)


def find_ways(level: Level, table: Table) -> list[tuple[Source, Neighbour]]:
    """All ways to join the table over one key to what is in FROM."""
    return [
        (source, neighbour)
        for source, own in level.list_tables()
        for neighbour in level.visible.list_neighbours(own)
        if neighbour.table is table
    ]


def _qualify(level: Level, columns: frozenset[str]) -> None:
    for column in level.columns:
        if (
            column.args.get("table") is None
            and (name := level.visible.spell(column.this)) in columns
        ):
            owners = level.owners(name)
            if len(owners) == 1:
                column.set("table", owners[0].identifier.copy())


def _build_column(source: Source, name: str, visible: TableLookup) -> exp.Column:
    return exp.Column(this=visible.build_identifier(name), table=source.identifier.copy())
