"""An unqualified name in a subquery that only the outer query has."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.types import Finding
from ranking.query import Query


def outer_column(query: Query) -> Finding | None:
    """An error if a subquery selects an unqualified column that none of its tables has.

    ``x IN (SELECT x FROM t)`` is true for every row if ``t`` has no ``x``: the database then uses
    the outer ``x``.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> tables = [Table("s", "a", (Column("x", "int"),)), Table("s", "b", (Column("y", "int"),))]
    >>> sql = "SELECT 1 FROM a WHERE x IN (SELECT x FROM b)"
    >>> outer_column(read_query(sql, "postgres", tables)).message
    'The subquery selects x, which none of its tables has.'
    """
    for select in query.selects():
        for projection in select.expressions:
            for column in find_all(projection, exp.Column):
                use = query.resolve(column)
                if use and use.outer and not column.table and column.parent_select is select:
                    message = f"The subquery selects {column.name}, which none of its tables has."
                    return Finding("outer_column", "error", message)
    return None
