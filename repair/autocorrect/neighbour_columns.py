"""Columns that only a table has which is one key away and not joined."""

from __future__ import annotations

from sqlglot import exp

from repair.autocorrect.joining import add_join
from repair.autocorrect.levels import (
    Level,
    Source,
    find_clause,
    list_faults,
    point_at,
    read_levels,
)
from repair.autocorrect.sight import Neighbour, Sight


def neighbour_columns(tree: exp.Expr, sight: Sight) -> bool:
    """``SELECT country FROM orders`` joins the customers, if no other neighbour has a country.

    Also over one table between. A JOIN's own condition asks for no further table.
    """
    changed = False
    for level in read_levels(tree, sight):
        for column, name in list_faults(level, "owner", "column"):
            if find_clause(column) == "joins":
                continue
            ways = _find_ways(level, column, name)
            if way := sight.choose(ways):
                added = add_join(level, *way)
            else:
                added = _add_bridge(level, name) if not ways else None
            if added is not None:
                point_at(column, added, name, sight)
                changed = True
    return changed


def _add_bridge(level: Level, name: str) -> Source | None:
    """Joins the only table two keys away that has the column, and the one between."""
    sight = level.sight
    joined = [table for _, table in level.list_tables()]
    if level.owners_in_sight(name):
        return None
    ways = [
        (source, first, second)
        for source, table in level.list_tables()
        for first in sight.list_neighbours(table)
        if first.table not in joined
        for second in sight.list_neighbours(first.table)
        if second.table not in joined and name in sight.list_columns(second.table)
    ]
    if len(ways) != 1:
        return None
    source, first, second = ways[0]
    bridge = add_join(level, source, first)
    return add_join(level, bridge, second) if bridge else None


def _find_ways(level: Level, column: exp.Column, name: str) -> list[tuple[Source, Neighbour]]:
    sight = level.sight
    joined = [table for _, table in level.list_tables()]
    if level.owners_in_sight(name):
        return []
    return [
        (source, neighbour)
        for source, table in level.list_tables()
        for neighbour in sight.list_neighbours(table)
        if neighbour.table not in joined and name in sight.list_columns(neighbour.table)
    ]
