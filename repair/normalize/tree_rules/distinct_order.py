"""DISTINCT with ORDER BY on columns that are not selected."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import list_calls, write
from repair.normalize.facts import Facts

_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX", "STRING_AGG")


def distinct_order(tree: exp.Expr, facts: Facts) -> bool:
    """``SELECT DISTINCT a … ORDER BY b`` becomes ``… GROUP BY a ORDER BY MIN(b)``.

    A descending order uses MAX. Not on SQLite, which allows such queries.
    """
    if facts.target == "sqlite":
        return False
    changed = False
    for select in find_all(tree, exp.Select):
        order, distinct = select.args.get("order"), select.args.get("distinct")
        if order is None or distinct is None or distinct.args.get("on") or select.args.get("group"):
            continue
        if any(list_calls(select, _AGGREGATES)) or select.is_star or select.find(exp.Window):
            continue
        shown = {expression.unalias() for expression in select.expressions}
        names = {expression.alias_or_name.lower() for expression in select.expressions}
        hidden = [
            expression
            for expression in order.expressions
            if isinstance(expression.this, exp.Column)
            and expression.this not in shown
            and (expression.this.table or expression.this.name.lower() not in names)
            and expression.this.name.lower() not in names
        ]
        if not hidden:
            continue
        for item in hidden:
            call = "MAX" if item.args.get("desc") else "MIN"
            item.set("this", write(f"{call}({{x}})", facts, x=item.this))
        select.set("distinct", None)
        select.group_by(
            *[expression.unalias().copy() for expression in select.expressions], copy=False
        )
        changed = True
    return changed
