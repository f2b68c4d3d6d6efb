"""A count of groups that have one row each."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.types import Finding
from ranking.query import Query


def count_of_single_rows(query: Query) -> Finding | None:
    """An error for COUNT over one table that is grouped by its key: every count is 1.

    Counting a column that may be NULL says something, and so does an outer query's condition.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> columns = (Column("id", "int"), Column("name", "text"))
    >>> tables = [Table("s", "region", columns, primary_key=("id",))]
    >>> sql = "SELECT name, COUNT(*) FROM region GROUP BY id, name"
    >>> count_of_single_rows(read_query(sql, "postgres", tables)).message
    'COUNT(*) is always 1: each group is one row of region.'
    """
    for select in query.selects():
        sources = query.sources(select)
        table = next(iter(sources.values())) if len(sources) == 1 else None
        group = select.args.get("group")
        if not isinstance(table, Table) or not table.primary_key or group is None:
            continue
        uses = [query.resolve(node) for node in group.expressions]
        grouped = {use.column.name for use in uses if use is not None and not use.outer}
        if not grouped.issuperset(table.primary_key):
            continue
        for output in select.expressions:
            count = output.find(exp.Count)
            if count is not None and isinstance(count.this, exp.Star):
                text = f"COUNT(*) is always 1: each group is one row of {table.name}."
                return Finding("count_of_single_rows", "error", text)
    return None
