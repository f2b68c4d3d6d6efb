"""LIKE with a pattern without wildcards."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query


def like_without_wildcard(query: Query) -> Finding | None:
    """A warning: it means ``=``, or the wildcards were forgotten.

    >>> from ranking.query import read_query
    >>> like_without_wildcard(read_query("SELECT 1 FROM a WHERE x LIKE 'Ann'", "postgres")).rule
    'like_without_wildcard'
    >>> like_without_wildcard(read_query("SELECT 1 FROM a WHERE x LIKE 'Ann%'", "postgres"))
    """
    for node in query.find_all(exp.Like, exp.ILike):
        pattern = node.expression
        if isinstance(pattern, exp.Literal) and not {"%", "_"} & set(pattern.this):
            message = f"{node.sql()} has no wildcard."
            return Finding("like_without_wildcard", "warning", message)
    return None
