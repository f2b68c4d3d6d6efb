"""Oracle's DUAL, a table with one row."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.facts import Facts


def dual(tree: exp.Expr, facts: Facts) -> bool:
    """``SELECT 1 FROM DUAL`` becomes ``SELECT 1``, unless there is a table of that name."""
    if "dual" in facts.table_names:
        return False
    changed = False
    for select in find_all(tree, exp.Select):
        clause = select.args.get("from_")
        source = clause.this if clause else None
        is_dual = isinstance(source, exp.Table) and source.name.lower() == "dual"
        if is_dual and not select.args.get("joins"):
            select.set("from_", None)
            changed = True
    return changed
