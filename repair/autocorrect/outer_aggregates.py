"""Subqueries that aggregate a column which only the outer query's table has."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.catalog import Table
from repair.autocorrect.aggregates import list_aggregates
from repair.autocorrect.levels import Level, read_levels
from repair.autocorrect.spelled_names import rename_table
from repair.autocorrect.table_lookup import TableLookup


def outer_aggregates(tree: exp.Expr, visible: TableLookup) -> bool:
    """Makes ``total = (SELECT MAX(total) FROM customers)`` read the orders, which have a total.

    Databases read the aggregate as one of the outer query, where it is not allowed. Only if the
    subquery reads one table, and the outer one has all columns that the subquery uses.
    """
    changed = False
    for level in read_levels(tree, visible):
        meant = _find_meant(level)
        if meant is not None:
            node = level.select.args["from_"].this
            rename_table(level.select, node, meant.name, visible)
            changed = True
    return changed


def _find_meant(level: Level) -> Table | None:
    """The table that the subquery should read; None if it is right or not understood."""
    visible, outer, tables = level.visible, level.outer, level.list_tables()
    if outer is None or len(level.sources) != 1 or len(tables) != 1:
        return None
    own, table = tables[0]
    used = {visible.spell(column.this) for column in level.columns}
    aggregated = [
        visible.spell(column.this)
        for output in level.select.expressions
        for aggregate in list_aggregates(output)
        for column in aggregate.find_all(exp.Column)
        if isinstance(column.this, exp.Identifier)
    ]
    if not aggregated or any(own.has(name) for name in aggregated):
        return None
    meant = {
        source.table.qualified: source.table
        for source in outer.sources.values()
        if source.table is not None and source.table is not table and all(map(source.has, used))
    }
    return next(iter(meant.values())) if len(meant) == 1 else None
