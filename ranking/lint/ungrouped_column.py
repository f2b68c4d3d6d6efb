"""A selected column that GROUP BY does not determine."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query


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
    for select in query.selects():
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
