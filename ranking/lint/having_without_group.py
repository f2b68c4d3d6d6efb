"""HAVING without GROUP BY."""

from __future__ import annotations

from nl2sql.types import Finding
from ranking.query import Query


def having_without_group(query: Query) -> Finding | None:
    """A warning: all rows are one group, which is kept or dropped as a whole.

    >>> from ranking.query import read_query
    >>> having_without_group(read_query("SELECT sum(x) FROM a HAVING sum(x) > 1", "sqlite")).rule
    'having_without_group'
    >>> having_without_group(read_query("SELECT y FROM a GROUP BY y HAVING sum(x) > 1", "sqlite"))
    """
    for select in query.selects():
        if select.args.get("having") and not select.args.get("group"):
            return Finding("having_without_group", "warning", "HAVING without GROUP BY.")
    return None
