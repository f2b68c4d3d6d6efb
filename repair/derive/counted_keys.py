"""What COUNT counts: rows, or distinct values."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.levels import Level
from repair.derive.original import Original


def counted_keys(original: Original) -> Iterator[exp.Expr]:
    """``COUNT(x)`` becomes ``COUNT(DISTINCT x)`` and the reverse; ``COUNT(*)`` over a join, too.

    Of a join, the keys of each table are counted.
    """
    for level in original.levels:
        for count in find_all(level.select, exp.Count):
            if count.find_ancestor(exp.Select) is not level.select:
                continue
            this = count.this
            changed: list[exp.Expr]
            if isinstance(this, exp.Distinct):
                changed = [] if original.expected.distinct else [exp.Star()]
            elif isinstance(this, exp.Column) and _repeats(original, level, this):
                changed = [exp.Distinct(expressions=[this.copy()])]
            elif isinstance(this, exp.Star) and len(level.sources) > 1:
                changed = [
                    exp.Distinct(expressions=[original.build_column(source, key)])
                    for source, table in level.list_tables()
                    if (key := original.find_key(table)) is not None
                ]
            else:
                continue
            for counted in changed:
                draft = original.draft()
                draft.of(count).set("this", counted)
                yield draft.tree


def _repeats(original: Original, level: Level, column: exp.Column) -> bool:
    """False for the key of the only table, of which each row has another."""
    owner = original.find_owner(column, level)
    if len(level.sources) > 1 or owner is None or owner.table is None:
        return True
    return original.find_key(owner.table) != original.visible.spell(column.this)
