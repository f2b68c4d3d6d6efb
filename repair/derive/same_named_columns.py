"""A column of the same name in another table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlglot import exp

from repair.autocorrect.levels import Level, point_at
from repair.derive.dropped_joins import drop_joins
from repair.derive.joins import find_join, list_equal_columns
from repair.derive.original import Original


def same_named_columns(original: Original) -> Iterator[exp.Expr]:
    """``a.name`` becomes ``b.name`` if both tables are in FROM."""
    for level in original.levels:
        if len(level.sources) < 2:
            continue
        joined = _list_joined(original, level)
        for column in level.columns:
            owner = original.find_owner(column, level)
            if owner is None or find_join(column, level.select) is not None:
                continue
            name = original.visible.spell(column.this)
            for source, table in level.list_tables():
                if source is owner or name not in original.visible.list_columns(table):
                    continue
                if frozenset((id(owner), id(source))) in joined.get(name, ()):
                    continue
                draft = original.draft()
                point_at(draft.of(column), source, name, original.visible)
                yield drop_joins(Original(draft.tree, original.visible, original.question))


def _list_joined(original: Original, level: Level) -> dict[str, set[frozenset[int]]]:
    """Folded name → the pairs of sources that are joined by their columns of that name."""
    found: dict[str, set[frozenset[int]]] = defaultdict(set)
    for join in level.select.args.get("joins") or ():
        for sides in list_equal_columns(join.args.get("on")):
            names = {original.visible.spell(side.this) for side in sides}
            if len(names) == 1:
                owners = (original.find_owner(side, level) for side in sides)
                found[names.pop()].add(frozenset(map(id, owners)))
    return found
