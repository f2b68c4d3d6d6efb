"""Aliases of columns that no item of FROM has."""

from __future__ import annotations

from collections import defaultdict

from sqlglot import exp

from repair.autocorrect.levels import (
    Level,
    Source,
    list_faults,
    may_mean,
    point_at,
    read_levels,
)
from repair.autocorrect.table_lookup import TableLookup

_Asked = tuple[exp.Column, str]


def unknown_aliases(tree: exp.Expr, visible: TableLookup) -> bool:
    """Makes ``T3.name`` the ``name`` of the only source that has all columns used of ``T3``.

    Of several sources, it chooses the one that is not used otherwise, whose alias was forgotten. In
    ``a JOIN b ON T1.id = a.b_id`` this is ``b``. If no source has all columns, each column is that
    of the only source that has it.
    """
    changed = False
    for level in read_levels(tree, visible):
        asked: dict[str, list[_Asked]] = defaultdict(list)
        for column, name in list_faults(level, "qualifier"):
            asked[visible.spell(column.args["table"])].append((column, name))
        for columns in asked.values():
            whole = _find_meant(columns, level)
            for column, name in columns:
                source = whole or _find_meant([(column, name)], level)
                if source is not None:
                    point_at(column, source, name, visible)
                    changed = True
    return changed


def _find_meant(columns: list[_Asked], level: Level) -> Source | None:
    """The source that these columns' alias means, here or else in the nearest outer SELECT."""
    here: Level | None = level
    while here is not None:
        owners = [
            source
            for source in here.sources.values()
            if all(source.has(name) for _, name in columns)
        ]
        if any(owner.columns is None for owner in owners):
            return None
        if owners:
            left = [
                owner for owner in owners if all(may_mean(*asked, owner, here) for asked in columns)
            ]
            if len(left) > 1:
                left = [source for source in left if not _is_asked(source, here)]
            return left[0] if len(left) == 1 else None
        here = here.outer
    return None


def _is_asked(source: Source, level: Level) -> bool:
    """Whether some column of the SELECT is qualified with the source's name."""
    visible = level.visible
    name = visible.spell(source.identifier)
    qualifiers = (column.args.get("table") for column in level.columns)
    return any(
        qualifier is not None and visible.spell(qualifier) == name for qualifier in qualifiers
    )
