"""Checks whether a join makes columns of the same name equal, so that either can be meant."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.levels import Level, Source


def are_equal(level: Level, owners: list[Source], name: str) -> bool:
    """True if the SELECT equates the owners' columns of that name, directly or indirectly."""
    visible = level.visible
    groups: list[set[tuple[str, str]]] = []
    for node in find_all(level.select, exp.EQ):
        if node.parent_select is not level.select or node.find_ancestor(exp.Or, exp.Not):
            continue
        ends = [_read_end(side, level) for side in (node.left, node.right)]
        if None in ends:
            continue
        pair = {end for end in ends if end is not None}
        touching = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair]
        groups.append(pair.union(*touching))
    asked = {(visible.spell(owner.identifier), name) for owner in owners}
    return any(asked <= group for group in groups)


def _read_end(side: exp.Expr, level: Level) -> tuple[str, str] | None:
    if not isinstance(side, exp.Column) or not isinstance(side.this, exp.Identifier):
        return None
    name, qualifier = level.visible.spell(side.this), side.args.get("table")
    if qualifier is not None:
        return level.visible.spell(qualifier), name
    owners = level.owners(name)
    return (level.visible.spell(owners[0].identifier), name) if len(owners) == 1 else None
