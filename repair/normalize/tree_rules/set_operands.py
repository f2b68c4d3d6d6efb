"""Operands of UNION in parentheses, which SQLite does not parse."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.facts import Facts


def set_operands(tree: exp.Expr, facts: Facts) -> bool:
    """``(SELECT a …) UNION …`` becomes ``SELECT * FROM (SELECT a …) UNION …`` on SQLite.

    Without ORDER BY and LIMIT, only the parentheses are removed.
    """
    if facts.target != "sqlite":
        return False
    changed = False
    for operation in list(find_all(tree, exp.SetOperation)):
        for key in ("this", "expression"):
            operand = operation.args[key]
            if not isinstance(operand, exp.Subquery):
                continue
            query = operand.unnest()
            if isinstance(query, exp.Select) and not (
                query.args.get("order") or query.args.get("limit") or query.args.get("with_")
            ):
                operation.set(key, query)
            else:
                operation.set(key, exp.select("*").from_(exp.Subquery(this=query)))
            changed = True
    return changed
