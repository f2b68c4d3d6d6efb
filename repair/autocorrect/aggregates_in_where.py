"""Aggregates in WHERE, where rows are not aggregated yet."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.aggregates import has_aggregate, list_aggregates
from repair.autocorrect.table_lookup import TableLookup


def aggregates_in_where(tree: exp.Expr, visible: TableLookup) -> bool:
    """Moves ``WHERE COUNT(*) > 2`` to HAVING; gives ``WHERE price > AVG(price)`` a subquery.

    The latter if a column is compared with the aggregate and there is no GROUP BY.
    """
    changed = False
    for select in list(find_all(tree, exp.Select)):
        where = select.args.get("where")
        if where is None or not has_aggregate(where):
            continue
        conditions = list(where.this.flatten() if isinstance(where.this, exp.And) else [where.this])
        kept = []
        for condition in conditions:
            if not has_aggregate(condition):
                kept.append(condition)
            elif select.args.get("group") is None and _compares_column(condition):
                kept.append(_compute_apart(condition, select))
            else:
                select.having(condition, copy=False)
        select.set("where", exp.Where(this=exp.and_(*kept, copy=False)) if kept else None)
        changed = True
    return changed


def _compares_column(condition: exp.Expr) -> bool:
    return isinstance(condition, exp.Binary) and any(
        isinstance(side, exp.Column) for side in (condition.left, condition.right)
    )


def _compute_apart(condition: exp.Expr, select: exp.Select) -> exp.Expr:
    """The condition with each aggregate as a subquery over all rows of the same tables."""
    for aggregate in list_aggregates(condition):
        apart = exp.Select(expressions=[aggregate.copy()], from_=select.args["from_"].copy())
        apart.set("joins", [join.copy() for join in select.args.get("joins") or ()])
        aggregate.replace(exp.Subquery(this=apart))
    return condition
