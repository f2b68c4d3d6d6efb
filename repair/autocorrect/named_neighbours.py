"""Columns named after a neighbouring table that is not joined."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.words import split_words
from repair.autocorrect.joining import add_join
from repair.autocorrect.levels import (
    Level,
    Source,
    find_clause,
    list_faults,
    point_at,
    read_levels,
)
from repair.autocorrect.table_lookup import Neighbour, TableLookup


def named_neighbours(tree: exp.Expr, visible: TableLookup) -> bool:
    """Makes ``SELECT customer_country FROM orders`` join the customers and read their country.

    The words of the name must be all those of the table and of the column, in this order.
    """
    changed = False
    for level in read_levels(tree, visible):
        joined: dict[str, tuple[Source, str]] = {}
        for column, _ in list_faults(level, "owner", "column"):
            if find_clause(column) == "joins":
                continue
            if column.name in joined:
                point_at(column, *joined[column.name], visible)
                continue
            found = _find_named(column.name, level)
            names = {(way[1].table.qualified, name) for way, name in found}
            way = visible.choose([way for way, _ in found]) if len(names) == 1 else None
            if way is not None and (added := add_join(level, *way)):
                joined[column.name] = added, visible.fold(found[0][1])
                point_at(column, *joined[column.name], visible)
                changed = True
    return changed


def _find_named(name: str, level: Level) -> list[tuple[tuple[Source, Neighbour], str]]:
    """The joins to a table not joined yet, each with its column of that name."""
    joined = [table for _, table in level.list_tables()]
    words = split_words(name)
    return [
        ((source, neighbour), column.name)
        for source, table in level.list_tables()
        for neighbour in level.visible.list_neighbours(table)
        if neighbour.table not in joined
        for column in neighbour.table.columns
        if split_words(neighbour.table.name) + split_words(column.name) == words
    ]
