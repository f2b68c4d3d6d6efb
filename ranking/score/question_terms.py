"""Measures what the question asks for and the query lacks, or does without being asked."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.expectations.expectations import Expectations
from nl2sql.sql.nodes import find_all
from ranking.lint.outputs import split_outputs
from ranking.query import Query
from ranking.score.points import Measure


def measure_shape(expected: Expectations, query: Query) -> Iterator[Measure]:
    """Measures of averages, rows and groups, distinct rows and negation.

    >>> from nl2sql.expectations.expectations import read_expectations
    >>> from ranking.query import read_query
    >>> expected = read_expectations("What are the names and ages of singers without a song?")
    >>> list(measure_shape(expected, read_query("SELECT name FROM singer", "sqlite")))
    [('negation_missing', 1.0)]
    """
    tree = query.tree
    if expected.average and tree.find(exp.Avg) is None and not _names_average(query):
        yield "average_missing", 1.0
    if isinstance(tree, exp.Select):
        aggregates, bare = split_outputs(tree)
        is_grouped = tree.args.get("group") is not None
        if aggregates and not bare and (is_grouped or (expected.rows or 0) > 1):
            yield "groups_unshown" if is_grouped else "rows_missing", 1.0
    if expected.negated and not _is_negated(tree):
        yield "negation_missing", 1.0
    select = query.outermost()
    if select is not None and select.args.get("distinct") and not expected.distinct:
        yield "distinct_unasked", 1.0


def _names_average(query: Query) -> bool:
    """True if a column's name says that it is an average, so that AVG is not needed."""
    names = [column.name.lower() for column in query.find_all(exp.Column)]
    return any(word in name for word in ("average", "avg", "mean") for name in names)


def _is_negated(tree: exp.Expr) -> bool:
    """True for NOT, <>, EXCEPT, an outer join, and a comparison with 0."""
    if tree.find(exp.Not, exp.NEQ, exp.Except, exp.LT, exp.LTE, exp.GT) is not None:
        return True
    if any(node.args.get("negate") for node in find_all(tree, exp.Like, exp.ILike, exp.Is, exp.In)):
        return True
    if any(join.side for join in find_all(tree, exp.Join)):
        return True
    return any(eq.args["expression"].name == "0" for eq in find_all(tree, exp.EQ))
