"""QUALIFY, which only DuckDB has."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.transforms import eliminate_qualify

from nl2sql.sql.nodes import find_all
from repair.normalize.facts import Facts


def qualify(tree: exp.Expr, facts: Facts) -> bool:
    """Moves the condition on a window to a query around a derived table with its value."""
    if facts.target == "duckdb":
        return False
    changed = False
    for select in list(find_all(tree, exp.Select))[::-1]:
        if select.args.get("qualify"):
            rewritten = eliminate_qualify(select.copy())
            select.args.clear()
            for key, value in rewritten.args.items():
                select.set(key, value)
            changed = True
    return changed
