"""Aggregates beside plain columns, with nothing to group by."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query

_AGGREGATES = (exp.AggFunc, exp.Filter, exp.WithinGroup)


def aggregate_without_group(query: Query) -> Finding | None:
    """An error where a SELECT without GROUP BY has both: SQLite takes any row's value.

    MIN and MAX alone are let be on SQLite, where the columns beside them are those of that row
    (sqlite.org/lang_select.html, "bare columns").

    >>> from ranking.query import read_query
    >>> aggregate_without_group(read_query("SELECT name, count(*) FROM a", "sqlite")).rule
    'aggregate_without_group'
    >>> aggregate_without_group(read_query("SELECT name, max(age) FROM a", "sqlite"))
    """
    for select in query.selects():
        if select.args.get("group"):
            continue
        aggregates = [each for each in _walk(select) if isinstance(each, _AGGREGATES)]
        if query.dialect == "sqlite" and len(aggregates) == 1:
            aggregates = [
                aggregate
                for aggregate in aggregates
                if not isinstance(aggregate, exp.Min | exp.Max)
            ]
        bare = [each for each in _walk(select) if isinstance(each, exp.Column)]
        if aggregates and bare:
            message = f"{bare[0].sql()} stands beside an aggregate without GROUP BY."
            return Finding("aggregate_without_group", "error", message)
    return None


def _walk(select: exp.Select) -> list[exp.Expr]:
    """Aggregates and the columns outside them, in what is selected; subqueries are their own."""
    found: list[exp.Expr] = []
    pending = list(select.expressions)
    while pending:
        node = pending.pop(0)
        if isinstance(node, (*_AGGREGATES, exp.Column)):
            found.append(node)
        elif not isinstance(node, exp.Query | exp.Window):
            pending += [
                expression
                for expression in node.iter_expressions()
                if isinstance(expression, exp.Expr)
            ]
    return found
