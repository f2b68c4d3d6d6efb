"""Measures what a query does without being asked: a limit, the first row by a key.

Each measure has a name and a strength between 0 and 1; one that does not apply is left out.
Questions whose columns are not recognised, such as those in other languages, are not measured.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.expectations.expectations import Expectations
from ranking.query import Query
from ranking.score.question_terms import Measure


def measure_unasked(expected: Expectations, query: Query) -> Iterator[Measure]:
    """Yields a LIMIT where all rows are wanted, and the first row in the order of a key.

    >>> from nl2sql.catalog import Column, Table
    >>> from nl2sql.expectations.expectations import read_expectations
    >>> from ranking.query import read_query
    >>> pets = Table("s", "pets", (Column("pet_id", "int"), Column("age", "int")), ("pet_id",))
    >>> query = read_query("SELECT age FROM pets ORDER BY pet_id LIMIT 1", "sqlite", [pets])
    >>> list(measure_unasked(read_expectations("What is the age and id of all pets?"), query))
    [('limit_unasked', 1.0)]
    >>> list(measure_unasked(read_expectations("What is the age of the tallest pet?"), query))
    [('best_by_key', 1.0)]
    """
    if not expected.columns:
        return
    if not expected.part and query.tree.args.get("limit"):
        yield "limit_unasked", 1.0
    firsts = [
        select.args["order"].expressions[0].this
        for select in query.selects()
        if select.args.get("order") and select.args.get("limit")
    ]
    asked = expected.keyed or expected.timed
    if not asked and any(_is_key(query, first) for first in firsts):
        yield "best_by_key", 1.0


def _is_key(query: Query, node: exp.Expr) -> bool:
    """True for a column that is named like a key: some keys are names that people ask for."""
    use = query.resolve(node)
    return (
        use is not None
        and use.column.name.lower().endswith("id")
        and (query.is_key(use) or use.table.primary_key == (use.column.name,))
    )
