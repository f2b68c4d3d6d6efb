"""Schemas that do not exist."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.facts import Facts


def schema_prefix(tree: exp.Expr, facts: Facts) -> bool:
    """``dbo.orders`` or ``shop.orders`` becomes ``orders`` if no known table has that schema."""
    schemas = {table.schema.lower() for table in facts.tables}
    changed = False
    for node in find_all(tree, exp.Table):
        is_known = node.name.lower() in facts.table_names
        if node.db and is_known and node.db.lower() not in schemas:
            for column in find_all(tree, exp.Column):
                if column.db.lower() == node.db.lower():
                    column.set("db", None)
                    column.set("catalog", None)
            node.set("db", None)
            node.set("catalog", None)
            changed = True
    return changed
