"""DISTINCT ON, which SQLite lacks."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.transforms import eliminate_distinct_on

from nl2sql.sql.nodes import find_all
from repair.normalize.facts import Facts


def distinct_on(tree: exp.Expr, facts: Facts) -> bool:
    """Selects the rows with row number 1 in each group of a derived table instead."""
    if facts.target != "sqlite":
        return False
    changed = False
    for select in list(find_all(tree, exp.Select))[::-1]:
        distinct = select.args.get("distinct")
        if distinct and distinct.args.get("on"):
            rewritten = eliminate_distinct_on(select.copy())
            select.args.clear()
            for key, value in rewritten.args.items():
                select.set(key, value)
            changed = True
    return changed
