"""Unqualified columns that several joined tables have."""

from __future__ import annotations

from sqlglot import exp

from repair.autocorrect.levels import list_faults, may_mean, point_at, read_levels
from repair.autocorrect.table_lookup import TableLookup


def ambiguous_columns(tree: exp.Expr, visible: TableLookup) -> bool:
    """Qualifies them with the first table that has them, since joined columns are mostly equal.

    In a join's condition, uses the table on the other side of the comparison.
    """
    changed = False
    for level in read_levels(tree, visible):
        for column, name in list_faults(level, "ambiguous"):
            owners = level.find_owners(name)
            meant = [owner for owner in owners if may_mean(column, name, owner, level)]
            if meant:
                point_at(column, meant[0], name, visible)
                changed = True
    return changed
