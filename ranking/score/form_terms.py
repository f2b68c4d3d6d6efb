"""Measures of the form of an answer: rounded figures, no NULLs at its top.

Each measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.expectations.expectations import Expectations
from ranking.query import Query
from ranking.score.question_terms import Measure


def measure_form(expected: Expectations, query: Query) -> Iterator[Measure]:
    """Yields what a rule could have corrected without changing what the query computes.

    >>> from nl2sql.expectations.expectations import read_expectations
    >>> from ranking.query import read_query
    >>> rounded = read_expectations("What is the average, rounded to two decimals?")
    >>> list(measure_form(rounded, read_query("SELECT AVG(a) FROM t", "postgres")))
    [('rounding_missing', 1.0)]
    """
    select = query.outermost()
    if (
        expected.decimals is not None
        and select is not None
        and not any(output.find(exp.Round) for output in select.expressions)
        and any(output.find(exp.Avg, exp.Div) for output in select.expressions)
    ):
        yield "rounding_missing", 1.0
    if query.dialect == "postgres" and any(
        _begins_with_nulls(query, part) for part in query.selects()
    ):
        yield "nulls_first", 1.0


def _begins_with_nulls(query: Query, select: exp.Select) -> bool:
    """Whether the first rows of a descending order with a limit may be NULLs."""
    order = select.args.get("order")
    if order is None or select.args.get("limit") is None:
        return False
    by = order.expressions[0]
    use = query.resolve(by.this)
    is_open = bool(by.args.get("desc")) and bool(by.args.get("nulls_first"))
    return is_open and use is not None and use.column.nullable
