"""Columns whose prefix, which all columns of their table have, a model leaves out or changes."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.catalog import Table
from repair.autocorrect.levels import Level, list_faults, read_levels
from repair.autocorrect.prefixes import find_prefix, list_meant
from repair.autocorrect.table_lookup import TableLookup


def prefixed_columns(tree: exp.Expr, visible: TableLookup) -> bool:
    """``txAmount`` and ``amount`` become ``sbTxAmount``, if all columns begin with ``sbTx``.

    Those of the named table first, then of the joined ones, then of all; the rules that follow
    find the table and join it.
    """
    if not any(visible.has_prefix(table) for table in visible.tables):
        return False
    changed = False
    for level in read_levels(tree, visible):
        for column, name in list(list_faults(level, "owner", "column", "qualifier")):
            if any(name in visible.list_columns(table) for table in visible.tables):
                continue
            if meant := _find_meant(column, level):
                column.set("this", visible.build_identifier(meant))
                changed = True
    return changed


def _find_meant(column: exp.Column, level: Level) -> str:
    """The only name that is meant in the nearest tables; empty if there is none, or several."""
    visible, qualifier = level.visible, column.args.get("table")
    named = level.sources.get(visible.spell(qualifier)) if qualifier is not None else None
    nearer: list[list[Table]] = [
        [named.table] if named is not None and named.table is not None else [],
        [table for _, table in level.list_tables()],
        list(visible.tables),
    ]
    written = [column.name, *_strip(column.name, nearer[1])]
    for tables in nearer:
        meant = {name for table in tables for text in written for name in list_meant(text, table)}
        if meant:
            return meant.pop() if len(meant) == 1 else ""
    return ""


def _strip(name: str, tables: list[Table]) -> list[str]:
    """The name without the prefix of a joined table: ``sbTxCustName`` is what others have."""
    prefixes = [prefix for table in tables if (prefix := find_prefix(table))]
    return [name[len(prefix) :] for prefix in prefixes if name.lower().startswith(prefix)]
