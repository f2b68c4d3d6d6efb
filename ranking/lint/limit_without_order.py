"""LIMIT without ORDER BY, which returns arbitrary rows."""

from __future__ import annotations

from nl2sql.types import Finding
from ranking.query import Query


def limit_without_order(query: Query) -> Finding | None:
    """A warning for the outermost query only.

    >>> from ranking.query import read_query
    >>> limit_without_order(read_query("SELECT x FROM a LIMIT 3", "postgres")).severity
    'warning'
    >>> limit_without_order(read_query("SELECT x FROM a ORDER BY x LIMIT 3", "postgres"))
    """
    if query.tree.args.get("limit") and not query.tree.args.get("order"):
        return Finding("limit_without_order", "warning", "LIMIT without ORDER BY.")
    return None
