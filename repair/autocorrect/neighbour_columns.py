"""Columns that only a neighbouring table has, which is not joined."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from nl2sql.catalog import Table
from repair.autocorrect.joining import add_join
from repair.autocorrect.levels import (
    Level,
    Source,
    find_clause,
    find_fault,
    list_faults,
    point_at,
    read_levels,
)
from repair.autocorrect.table_lookup import Neighbour, TableLookup

_Fits = Callable[[Table], bool]


def neighbour_columns(tree: exp.Expr, visible: TableLookup) -> bool:
    """Makes ``SELECT country FROM orders`` join the customers, if no other neighbour has a country.

    Also for ``SELECT T2.country`` with an unknown alias, and all other columns of that alias; also
    over one table between. Not for columns in a JOIN's condition.
    """
    changed = False
    for level in read_levels(tree, visible):
        for column, name in list_faults(level, "owner", "column", "qualifier"):
            if find_clause(column) == "joins" or level.find_owners(name):
                continue
            asked = _list_asked(column, level)
            fits = _build_test(asked, level)
            ways = _find_ways(level, fits)
            if way := visible.choose(ways):
                added = add_join(level, *way)
            else:
                added = _add_bridge(level, fits) if not ways else None
            if added is not None:
                for used in asked:
                    point_at(used, added, visible.spell(used.this), visible)
                changed = True
    return changed


def _list_asked(column: exp.Column, level: Level) -> list[exp.Column]:
    """The column, and if its alias is unknown, all other columns of that alias."""
    if find_fault(column, level) != "qualifier":
        return [column]
    alias = column.table.lower()
    return [column for column in level.columns if column.table.lower() == alias]


def _build_test(asked: list[exp.Column], level: Level) -> _Fits:
    """A test whether a table that is not joined yet has all these columns.

    Columns that are qualified with the name of a visible table must belong to that table.
    """
    visible = level.visible
    names = {visible.spell(column.this) for column in asked}
    joined = [table for _, table in level.list_tables()]
    meant = visible.tables
    if find_fault(asked[0], level) == "qualifier":
        alias = visible.fold(asked[0].table)
        meant = tuple(table for table in meant if visible.fold(table.name) == alias) or meant

    def fits(table: Table) -> bool:
        return table in meant and table not in joined and names <= set(visible.list_columns(table))

    return fits


def _add_bridge(level: Level, fits: _Fits) -> Source | None:
    """Joins the only fitting table that is two keys away, and the one between."""
    visible = level.visible
    joined = [table for _, table in level.list_tables()]
    ways = [
        (source, first, second)
        for source, table in level.list_tables()
        for first in visible.list_neighbours(table)
        if first.table not in joined
        for second in visible.list_neighbours(first.table)
        if fits(second.table)
    ]
    if len(ways) != 1:
        return None
    source, first, second = ways[0]
    bridge = add_join(level, source, first)
    return add_join(level, bridge, second) if bridge else None


def _find_ways(level: Level, fits: _Fits) -> list[tuple[Source, Neighbour]]:
    return [
        (source, neighbour)
        for source, table in level.list_tables()
        for neighbour in level.visible.list_neighbours(table)
        if fits(neighbour.table)
    ]
