"""Measures how much a query does: of two that fit, the simpler one is right more often.

Each measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ranking.query import Query
from ranking.score.question_terms import Measure

# With so many, a measure has its full strength.
_MANY_CONDITIONS = 4
_MANY_QUERIES = 3


def measure_size(query: Query) -> Iterator[Measure]:
    """Yields further conditions, queries inside of queries, and UNION, EXCEPT or INTERSECT.

    >>> from ranking.query import read_query
    >>> sql = "SELECT a FROM t WHERE b AND c IN (SELECT d FROM u) UNION SELECT e FROM v"
    >>> list(measure_size(read_query(sql, "sqlite")))
    [('conditions_added', 0.25), ('queries_inside', 0.3333333333333333), ('set_operation', 1.0)]
    """
    if conditions := len(query.find_all(exp.And, exp.Or)):
        yield "conditions_added", min(conditions, _MANY_CONDITIONS) / _MANY_CONDITIONS
    sets = len(query.find_all(exp.SetOperation))
    if inside := len(query.find_all(exp.Select)) - 1 - sets:
        yield "queries_inside", min(inside, _MANY_QUERIES) / _MANY_QUERIES
    if sets:
        yield "set_operation", 1.0
