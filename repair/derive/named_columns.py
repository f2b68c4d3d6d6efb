"""A column that the question names, in the place of one that it does not."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from repair.autocorrect.levels import point_at
from repair.derive.dropped_joins import drop_joins
from repair.derive.joins import find_join
from repair.derive.original import Original


def named_columns(original: Original) -> Iterator[exp.Expr]:
    """``School_ID`` becomes ``School`` if the question says school and not id."""
    used = {
        (id(source), original.visible.spell(column.this))
        for level in original.levels
        for source in level.sources.values()
        for column in original.uses[id(source)]
    }
    for level in original.levels:
        for column in level.columns:
            owner = original.find_owner(column, level)
            if owner is None or owner.table is None or original.says(column.name):
                continue
            if find_join(column, level.select) is not None:
                continue
            for source, table in level.list_tables():
                for name, stored in original.visible.list_columns(table).items():
                    if (id(source), name) in used or not original.says(stored):
                        continue
                    draft = original.draft()
                    point_at(draft.of(column), source, name, original.visible)
                    yield drop_joins(Original(draft.tree, original.visible, original.question))
