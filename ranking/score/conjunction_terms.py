"""Measures whether a query returns what has either of two things when both were asked for.

A measure has a name and a strength between 0 and 1; one that does not apply is left out. Does not
cover two ranges of one number, which AND can make empty (a lint rule reports that).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sqlglot import exp

from nl2sql.expectations.expectations import Expectations
from nl2sql.sql.nodes import find_all
from ranking.query import Query
from ranking.score.question_terms import Measure


def measure_conjunction(expected: Expectations, query: Query) -> Iterator[Measure]:
    """Yields ``both_missing`` if a query only uses IN, OR or UNION for a question for both.

    >>> from nl2sql.expectations.expectations import read_expectations
    >>> from ranking.query import read_query
    >>> asked = read_expectations("Which owners have both cats and dogs?")
    >>> either = "SELECT owner FROM pets WHERE kind IN ('cat', 'dog')"
    >>> list(measure_conjunction(asked, read_query(either, "sqlite")))
    [('both_missing', 1.0)]
    >>> list(measure_conjunction(asked, read_query(either + " GROUP BY 1 HAVING 2 = 2", "sqlite")))
    []
    """
    tree = query.tree
    if not expected.both:
        return
    if any(map(_joins_conditions, find_all(tree, exp.Union))):
        yield "both_missing", 1.0
        return
    if tree.find(exp.Intersect, exp.Except, exp.Having):
        return
    tables = Counter(table.name.lower() for table in find_all(tree, exp.Table))
    if max(tables.values(), default=0) > 1:
        return  # the table is read twice, by a self-join or subqueries
    if any(_is_either(node) for node in find_all(tree, exp.In, exp.Or)):
        yield "both_missing", 1.0


def _joins_conditions(union: exp.Union) -> bool:
    """True for rows of the same tables under either of two conditions."""
    sides = (union.left.unnest(), union.right.unnest())
    if not all(isinstance(side, exp.Select) and side.args.get("where") for side in sides):
        return False
    left, right = ({table.name.lower() for table in find_all(side, exp.Table)} for side in sides)
    return left == right


def _is_either(node: exp.Expr) -> bool:
    """True for several values of one column."""
    if isinstance(node, exp.In):
        return len(node.expressions) > 1
    sides = [side.unnest() for side in (node.this, node.expression)]
    columns = {column.name.lower() for side in sides for column in find_all(side, exp.Column)}
    return all(isinstance(side, exp.EQ | exp.Like) for side in sides) and len(columns) == 1
