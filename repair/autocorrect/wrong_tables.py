"""Columns that are qualified with the wrong table of a join."""

from __future__ import annotations

from sqlglot import exp

from repair.autocorrect.equal_columns import are_equal
from repair.autocorrect.levels import compares_itself, list_faults, point_at, read_levels
from repair.autocorrect.table_lookup import TableLookup


def wrong_tables(tree: exp.Expr, visible: TableLookup) -> bool:
    """``o.country`` becomes ``c.country`` if of all joined tables only ``c`` has a country."""
    changed = False
    for level in read_levels(tree, visible):
        for column, name in list_faults(level, "owner"):
            owners = level.find_owners(name)
            if any(owner.columns is None for owner in owners):
                continue
            owners = [
                owner for owner in owners if not compares_itself(column, owner, name, visible)
            ]
            if not owners:
                continue
            if len(owners) == 1 or are_equal(level, owners, name):
                point_at(column, owners[0], name, visible)
                changed = True
    return changed
