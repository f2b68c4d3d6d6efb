"""Columns that are asked of the wrong source, or of none."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.select_scopes import (
    SelectScope,
    SelectSource,
    compares_itself,
    list_faults,
    point_at,
)


def wrong_tables(scope: SelectScope) -> bool:
    """``o.country`` becomes ``c.country`` if of all joined tables only ``c`` has a country."""
    visible, changed = scope.visible, False
    for column, name in list_faults(scope, "owner"):
        owners = scope.find_owners(name)
        if any(owner.columns is None for owner in owners):
            continue
        owners = [owner for owner in owners if not compares_itself(column, owner, name, visible)]
        if not owners:
            continue
        if len(owners) == 1 or are_equal(scope, owners, name):
            point_at(column, owners[0], name, visible)
            changed = True
    return changed


def are_equal(scope: SelectScope, owners: list[SelectSource], name: str) -> bool:
    """True if the SELECT equates the owners' columns of that name, directly or indirectly."""
    visible = scope.visible
    groups: list[set[tuple[str, str]]] = []
    for node in find_all(scope.select, exp.EQ):
        if node.parent_select is not scope.select or node.find_ancestor(exp.Or, exp.Not):
            continue
        ends = [_read_end(side, scope) for side in (node.left, node.right)]
        if None in ends:
            continue
        pair = {end for end in ends if end is not None}
        touching = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair]
        groups.append(pair.union(*touching))
    asked = {(visible.spell(owner.identifier), name) for owner in owners}
    return any(asked <= group for group in groups)


def _read_end(side: exp.Expr, scope: SelectScope) -> tuple[str, str] | None:
    if not isinstance(side, exp.Column) or not isinstance(side.this, exp.Identifier):
        return None
    name, qualifier = scope.visible.spell(side.this), side.args.get("table")
    if qualifier is not None:
        return scope.visible.spell(qualifier), name
    owners = scope.owners(name)
    return (scope.visible.spell(owners[0].identifier), name) if len(owners) == 1 else None
