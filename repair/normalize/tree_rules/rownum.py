"""Oracle's ROWNUM."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import read_number
from repair.normalize.facts import Facts


def rownum(tree: exp.Expr, facts: Facts) -> bool:
    """``WHERE ROWNUM <= n`` becomes ``LIMIT n``, which is also what is meant with ORDER BY."""
    if "rownum" in facts.names:
        return False
    changed = False
    for select in find_all(tree, exp.Select):
        where = select.args.get("where")
        if where is None or select.args.get("limit"):
            continue
        conditions = list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
        for condition in conditions:
            if (limit := _read_limit(condition)) is None:
                continue
            rest = [other for other in conditions if other is not condition]
            select.set("where", exp.Where(this=exp.and_(*rest, copy=False)) if rest else None)
            select.limit(limit, copy=False)
            changed = True
            break
    return changed


def _read_limit(condition: exp.Expr) -> int | None:
    """The number of rows that a condition on ROWNUM allows; None for any other."""
    if not isinstance(condition, exp.LT | exp.LTE | exp.EQ):
        return None
    if not isinstance(condition.left, exp.Column) or condition.left.name.upper() != "ROWNUM":
        return None
    number = read_number(condition.right)
    if number is None or (isinstance(condition, exp.EQ) and number != 1):
        return None
    return number - isinstance(condition, exp.LT)
