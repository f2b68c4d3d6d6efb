"""A JOIN whose condition does not connect the joined table with another."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.types import Finding
from ranking.query import Query


def missing_join_condition(query: Query) -> Finding | None:
    """An error for an ON that compares only columns of one table.

    ``self_comparison`` covers a column that is compared with itself.

    >>> from ranking.query import read_query
    >>> missing_join_condition(read_query("SELECT 1 FROM a JOIN b ON b.x = b.y", "sqlite")).message
    'The condition of the join with b names one table alone.'
    >>> missing_join_condition(read_query("SELECT 1 FROM a JOIN b ON a.x = b.x", "sqlite"))
    """
    for select in query.selects():
        for join in select.args.get("joins") or ():
            condition = join.args.get("on")
            if condition is None or not isinstance(join.this, exp.Table):
                continue
            columns = {
                (column.table.lower(), column.name.lower())
                for column in find_all(condition, exp.Column)
            }
            tables = {table for table, _ in columns}
            if len(columns) > 1 and len(tables) == 1 and "" not in tables:
                name = join.this.alias_or_name
                message = f"The condition of the join with {name} names one table alone."
                return Finding("missing_join_condition", "error", message)
    return None
