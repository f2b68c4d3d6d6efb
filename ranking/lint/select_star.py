"""``SELECT *`` instead of the requested columns."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query


def select_star(query: Query) -> Finding | None:
    """A warning if the outermost query selects a star.

    >>> from ranking.query import read_query
    >>> select_star(read_query("SELECT * FROM a", "postgres")).rule
    'select_star'
    >>> select_star(read_query("SELECT count(*) FROM a", "postgres"))
    """
    if isinstance(query.tree, exp.Select) and query.tree.is_star:
        return Finding("select_star", "warning", "All columns are selected.")
    return None
