"""Table names that a model invents, if only one real table can be meant."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.sql.scopes import name_ctes
from nl2sql.words import split_words
from repair.autocorrect.spelled_names import rename_table
from repair.autocorrect.table_lookup import TableLookup


def invented_tables(tree: exp.Expr, visible: TableLookup) -> bool:
    """Renames tables whose words are those, or a part of those, of exactly one visible table.

    ``customer`` → ``customers``, ``cars_names`` → ``car_names``.
    """
    views = name_ctes(tree, visible.spell)
    changed = False
    for node in find_all(tree, exp.Table):
        if not isinstance(node.this, exp.Identifier) or visible.find_table(node) is not None:
            continue
        if visible.spell(node.this) in views:
            continue
        if meant := _find_meant(node.name, visible):
            rename_table(tree, node, meant, visible)
            changed = True
    return changed


def _find_meant(invented: str, visible: TableLookup) -> str:
    words = split_words(invented)
    same = [table.name for table in visible.tables if split_words(table.name) == words]
    if not same:
        same = [
            table.name
            for table in visible.tables
            if set(words) <= set(split_words(table.name))
            or set(split_words(table.name)) <= set(words)
        ]
    return same[0] if len(same) == 1 else ""
