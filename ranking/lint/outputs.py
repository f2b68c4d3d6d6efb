"""What is shown: aggregates, groups, figures and columns."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from nl2sql.types import Finding
from ranking.definition_use import DefinitionUse
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
    for select in query.find_all(exp.Select):
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


def ungrouped_column(query: Query) -> Finding | None:
    """A warning if a SELECT with GROUP BY selects a column of a table by which it does not group.

    Columns of a table by whose other columns it groups are allowed: those may be its key.

    >>> from ranking.query import read_query
    >>> sql = "SELECT a.name, count(*) FROM a JOIN b ON a.id = b.id GROUP BY b.kind"
    >>> ungrouped_column(read_query(sql, "sqlite")).rule
    'ungrouped_column'
    >>> sql = "SELECT a.name, count(*) FROM a JOIN b ON a.id = b.id GROUP BY a.id"
    >>> ungrouped_column(read_query(sql, "sqlite"))
    """
    for select in query.find_all(exp.Select):
        group = select.args.get("group")
        if group is None or not group.expressions:
            continue
        keys = group.expressions
        if not all(isinstance(key, exp.Column) for key in keys):
            continue
        tables, names = {key.table.lower() for key in keys}, {key.name.lower() for key in keys}
        for expression in select.expressions:
            column = expression.unalias()
            if not isinstance(column, exp.Column) or isinstance(column.this, exp.Star):
                continue
            if column.name.lower() in names or expression.alias.lower() in names:
                continue
            if column.table and tables.isdisjoint({column.table.lower(), ""}):
                message = f"{column.sql()} is selected and not grouped by."
                return Finding("ungrouped_column", "warning", message)
    return None


def measure_without_filter(uses: Iterable[DefinitionUse]) -> Finding | None:
    """A warning if a named measure's expression is there, and a column of its filter nowhere.

    A candidate that mentions the column at all may limit the rows in another way.
    """
    for use in uses:
        definition = use.definition
        if definition.kind == "measure" and use.computes and use.missing:
            missing = " AND ".join(use.missing)
            message = f"{definition.name} is defined with {missing}, which is missing."
            return Finding("measure_without_filter", "warning", message)
    return None
