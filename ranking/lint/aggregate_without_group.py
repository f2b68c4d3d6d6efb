"""Aggregates next to plain columns, without GROUP BY."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query

_AGGREGATES = (exp.AggFunc, exp.Filter, exp.WithinGroup)


def aggregate_without_group(query: Query) -> Finding | None:
    """An error if a SELECT without GROUP BY has both: SQLite returns the value of an arbitrary row.

    A single MIN or MAX is allowed on SQLite, where the other columns are those of that row
    (sqlite.org/lang_select.html, "bare columns").

    >>> from ranking.query import read_query
    >>> aggregate_without_group(read_query("SELECT name, count(*) FROM a", "sqlite")).rule
    'aggregate_without_group'
    >>> aggregate_without_group(read_query("SELECT name, max(age) FROM a", "sqlite"))
    """
    for select in query.selects():
        if select.args.get("group"):
            continue
        aggregates = [node for node in _walk(select) if isinstance(node, _AGGREGATES)]
        if query.dialect == "sqlite" and len(aggregates) == 1:
            aggregates = [
                aggregate
                for aggregate in aggregates
                if not isinstance(aggregate, exp.Min | exp.Max)
            ]
        bare = [node for node in _walk(select) if isinstance(node, exp.Column)]
        if aggregates and bare:
            message = f"{bare[0].sql()} stands beside an aggregate without GROUP BY."
            return Finding("aggregate_without_group", "error", message)
    return None


def _walk(select: exp.Select) -> list[exp.Expr]:
    """The aggregates of the outputs and the columns outside them, without those of subqueries."""
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
