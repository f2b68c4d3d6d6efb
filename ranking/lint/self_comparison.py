"""A column compared with itself."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query


def self_comparison(query: Query) -> Finding | None:
    """An error for ``a.x = a.x``, which is true for every row that has a value.

    >>> from ranking.query import read_query
    >>> self_comparison(read_query("SELECT 1 FROM a JOIN b ON a.x = a.x", "sqlite")).rule
    'self_comparison'
    >>> self_comparison(read_query("SELECT 1 FROM a JOIN b ON a.x = b.x", "sqlite"))
    """
    for node in query.find_all(exp.EQ, exp.NEQ, exp.GT, exp.LT, exp.GTE, exp.LTE):
        left, right = node.left, node.right
        if (
            isinstance(left, exp.Column)
            and isinstance(right, exp.Column)
            and (left.table.lower(), left.name.lower()) == (right.table.lower(), right.name.lower())
        ):
            message = f"{node.sql()} compares a column with itself."
            return Finding("self_comparison", "error", message)
    return None
