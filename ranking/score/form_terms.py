"""Measures of the form of an answer: rounded figures, all rows of a list, no NULLs at its top.

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
    >>> listed = read_expectations("Show name and total, highest total first.")
    >>> query = read_query("SELECT a, b FROM t ORDER BY b DESC NULLS LAST LIMIT 1", "postgres")
    >>> list(measure_form(listed, query))
    [('limit_unasked', 1.0)]
    """
    select = query.outermost()
    if (
        expected.decimals is not None
        and select is not None
        and not any(output.find(exp.Round) for output in select.expressions)
        and any(output.find(exp.Avg, exp.Div) for output in select.expressions)
    ):
        yield "rounding_missing", 1.0
    measured = expected.columns and not expected.part
    if expected.listed and not measured and query.tree.args.get("limit"):
        yield "limit_unasked", 1.0
    if query.dialect == "postgres" and any(map(_begins_with_nulls, query.selects())):
        yield "nulls_first", 1.0


def _begins_with_nulls(select: exp.Select) -> bool:
    """Whether the first rows of a descending order with a limit may be NULLs."""
    order = select.args.get("order")
    return (
        order is not None
        and select.args.get("limit") is not None
        and bool(order.expressions[0].args.get("desc"))
        and bool(order.expressions[0].args.get("nulls_first"))
    )
