"""One expression selected twice."""

from __future__ import annotations

from nl2sql.types import Finding
from ranking.query import Query


def duplicate_column(query: Query) -> Finding | None:
    """A warning for the outermost query.

    >>> from ranking.query import read_query
    >>> duplicate_column(read_query("SELECT a.x, A.X FROM a", "postgres")).rule
    'duplicate_column'
    >>> duplicate_column(read_query("SELECT a.x, b.x FROM a, b", "postgres"))
    """
    select = query.outermost()
    seen: set[str] = set()
    for expression in select.expressions if select else ():
        text = expression.unalias().sql().lower()
        if text in seen:
            return Finding("duplicate_column", "warning", f"{text} is selected twice.")
        seen.add(text)
    return None
