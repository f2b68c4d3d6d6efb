"""A sum or mean of keys, which are only names."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query


def sum_of_key(query: Query) -> Finding | None:
    """A warning for SUM and AVG of a primary or foreign key.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> tables = [Table("s", "a", (Column("id", "int"),), primary_key=("id",))]
    >>> sum_of_key(read_query("SELECT avg(id) FROM a", "postgres", tables)).message
    'AVG(id) is a figure made of keys.'
    """
    for node in query.find_all(exp.Sum, exp.Avg):
        use = query.resolve(node.this)
        if use and (query.is_key(use) or use.table.primary_key == (use.column.name,)):
            return Finding("sum_of_key", "warning", f"{node.sql()} is a figure made of keys.")
    return None
