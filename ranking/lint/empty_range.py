"""BETWEEN with its bounds in the wrong order."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding
from ranking.query import Query


def empty_range(query: Query) -> Finding | None:
    """An error if the lower bound is above the upper one: no value is between them.

    >>> from ranking.query import read_query
    >>> empty_range(read_query("SELECT 1 FROM a WHERE x BETWEEN 9 AND 1", "sqlite")).severity
    'error'
    >>> empty_range(read_query("SELECT 1 FROM a WHERE x BETWEEN 1 AND 9", "sqlite"))
    """
    for between in query.find_all(exp.Between):
        low, high = between.args["low"], between.args["high"]
        if not isinstance(low, exp.Literal) or not isinstance(high, exp.Literal):
            continue
        if low.is_string or high.is_string:
            continue
        if float(low.this) > float(high.this):
            return Finding("empty_range", "error", f"Nothing lies in {between.sql()}.")
    return None
