"""Names that differ from a real one in case, spaces and underscores only."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.sql.scopes import name_ctes
from repair.autocorrect.levels import list_faults, point_at, read_levels
from repair.autocorrect.table_lookup import TableLookup


def spelled_names(tree: exp.Expr, visible: TableLookup) -> bool:
    """``"Country"`` → ``country``, ``loyalty_tier`` → ``"Loyalty Tier"``."""
    changed = _spell_tables(tree, visible)
    if changed:
        visible.forget()
    for level in read_levels(tree, visible):
        for column, name in list_faults(level, "owner", "column"):
            qualifier = column.args.get("table")
            sources = (
                [level.find_source(visible.spell(qualifier))]
                if qualifier is not None
                else list(level.sources.values())
            )
            found = [
                (source, meant)
                for source in sources
                if source is not None
                and source.table is not None
                and (meant := _find_alike(name, visible.list_columns(source.table)))
            ]
            if len(found) == 1:
                point_at(column, *found[0], visible)
                changed = True
    return changed


def _spell_tables(tree: exp.Expr, visible: TableLookup) -> bool:
    names = {visible.fold(table.name): table.name for table in visible.tables}
    views = name_ctes(tree, visible.spell)
    changed = False
    for node in find_all(tree, exp.Table):
        if not isinstance(node.this, exp.Identifier) or visible.spell(node.this) in views:
            continue
        if visible.find_table(node) is None and (meant := _find_alike(node.name, names)):
            rename_table(tree, node, names[meant], visible)
            changed = True
    return changed


def rename_table(tree: exp.Expr, node: exp.Table, name: str, visible: TableLookup) -> None:
    """Renames the table, and in columns the qualifier with its old name."""
    if not node.alias:
        old = visible.spell(node.this)
        for column in find_all(tree, exp.Column):
            qualifier = column.args.get("table")
            if qualifier is not None and visible.spell(qualifier) == old:
                column.set("table", visible.build_identifier(name))
    node.set("this", visible.build_identifier(name))
    node.set("db", None)


def _find_alike(name: str, names: Iterable[str]) -> str:
    alike = [known for known in names if _squeeze(known) == _squeeze(name)]
    return alike[0] if len(alike) == 1 else ""


def _squeeze(name: str) -> str:
    """
    >>> _squeeze("Loyalty Tier")
    'loyaltytier'
    """
    return "".join(sign for sign in name.casefold() if sign.isalnum())
