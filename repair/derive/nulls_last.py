"""NULLs that stand before the highest values."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from repair.autocorrect.levels import Level
from repair.derive.original import Original


def nulls_last(original: Original) -> Iterator[exp.Expr]:
    """``ORDER BY price DESC LIMIT 3`` becomes ``… DESC NULLS LAST LIMIT 3`` on PostgreSQL.

    There a descending order begins with NULLs; on SQLite and DuckDB they come last.
    """
    if original.visible.dialect != "postgres":
        return
    for level in original.levels:
        order = level.select.args.get("order")
        if order is None or level.select.args.get("limit") is None:
            continue
        by = order.expressions[0]
        if not isinstance(by, exp.Ordered) or not _may_be_null(by.this, level, original):
            continue
        if by.args.get("desc") and by.args.get("nulls_first"):
            draft = original.draft()
            draft.of(by).set("nulls_first", False)
            yield draft.tree


def _may_be_null(by: exp.Expr, level: Level, original: Original) -> bool:
    """True for a column that the table may leave empty."""
    if not isinstance(by, exp.Column):
        return False
    source = original.find_owner(by, level)
    if source is None or source.table is None:
        return False
    name = original.visible.list_columns(source.table).get(original.visible.spell(by.this))
    column = source.table.column(name) if name else None
    return column is not None and column.nullable
