"""Aliases that nothing in FROM bears."""

from __future__ import annotations

from sqlglot import exp

from repair.autocorrect.levels import list_faults, point_at, read_levels
from repair.autocorrect.sight import Sight


def unknown_aliases(tree: exp.Expr, sight: Sight) -> bool:
    """``T3.name`` becomes the ``name`` of the only source that has one."""
    changed = False
    for level in read_levels(tree, sight):
        for column, name in list_faults(level, "qualifier"):
            owners = level.owners_in_sight(name)
            if len(owners) == 1 and owners[0].columns is not None:
                point_at(column, owners[0], name, sight)
                changed = True
    return changed
