"""An operator that compares with NULL, which is never true."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query


def null_comparison(query: Query) -> Finding | None:
    """An error for ``= NULL`` and ``<> NULL``.

    >>> from ranking.query import read_query
    >>> null_comparison(read_query("SELECT 1 FROM a WHERE x = NULL", "postgres")).severity
    'error'
    >>> null_comparison(read_query("SELECT 1 FROM a WHERE x IS NULL", "postgres"))
    """
    for node in query.find_all(exp.EQ, exp.NEQ):
        if isinstance(node.left, exp.Null) or isinstance(node.right, exp.Null):
            return Finding("null_comparison", "error", f"{node.sql()} is never true.")
    return None
