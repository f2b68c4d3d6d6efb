"""A single table that lacks a column, if a neighbour has all columns of the query."""

from __future__ import annotations

from sqlglot import exp

from repair.autocorrect.levels import list_faults, read_levels
from repair.autocorrect.spelled_names import rename_table
from repair.autocorrect.table_lookup import Neighbour, TableLookup


def wrong_from(tree: exp.Expr, visible: TableLookup) -> bool:
    """Makes ``SELECT order_id, reason FROM order_lines`` read ``returns``, which has both.

    Only if a single neighbour has all columns that the SELECT uses, and the columns that both have
    are the key between them, under the same name: the ``id`` of one is not the ``id`` of the other.
    """
    changed = False
    for level in read_levels(tree, visible):
        tables = level.list_tables()
        if len(level.sources) != 1 or len(tables) != 1:
            continue
        if not any(True for _ in list_faults(level, "owner", "column")):
            continue
        _, table = tables[0]
        if any(isinstance(expression, exp.Star) for expression in level.select.expressions):
            continue
        used = {
            visible.spell(column.this)
            for column in level.columns
            if visible.spell(column.this) not in level.outputs
        }
        shared = used & set(visible.list_columns(table))
        meant = {
            neighbour.table.qualified: neighbour.table
            for neighbour in visible.list_neighbours(table)
            if used <= set(visible.list_columns(neighbour.table))
            and shared
            and all((name, name) in _fold_pairs(neighbour, visible) for name in shared)
        }
        if len(meant) == 1:
            node = level.select.args["from_"].this
            rename_table(level.select, node, next(iter(meant.values())).name, visible)
            changed = True
    return changed


def _fold_pairs(neighbour: Neighbour, visible: TableLookup) -> set[tuple[str, str]]:
    return {(visible.fold(own), visible.fold(other)) for own, other in neighbour.pairs}
