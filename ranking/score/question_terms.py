"""Measures what the words of the question ask for and the query lacks.

Each measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlglot import exp

from nl2sql.expectations.asked_comparisons import list_comparisons
from nl2sql.expectations.expectations import Expectations
from nl2sql.expectations.said_texts import is_said, list_numbers
from nl2sql.sql.nodes import find_all
from nl2sql.types import SchemaContext
from ranking.query import ColumnUse, Query, read_candidate
from ranking.score.literals import list_conditions

Measure = tuple[str, float]

_FIGURE_NAME = re.compile(
    r"(?:^|_)(?:num|number|total|count|amount|average|avg|mean|sum)s?(?:_|$)", re.IGNORECASE
)

# What compares a part of a text.
_PARTS = (
    exp.Like,
    exp.ILike,
    exp.Glob,
    exp.RegexpLike,
    exp.RegexpILike,
    exp.Substring,
    exp.Left,
    exp.Right,
    exp.StartsWith,
    exp.StrPosition,
)


def measure_shape(expected: Expectations, query: Query) -> Iterator[Measure]:
    """Measures of columns, aggregates, grouping, order, distinct rows and negation.

    >>> from nl2sql.expectations.expectations import read_expectations
    >>> from ranking.query import read_query
    >>> expected = read_expectations("What are the names and ages of singers without a song?")
    >>> list(measure_shape(expected, read_query("SELECT name FROM singer", "sqlite")))
    [('columns_differ', 1.0), ('negation_missing', 1.0)]
    """
    tree = query.tree
    width = count_columns(query)
    if expected.columns and width is not None and width not in expected.columns:
        yield "columns_differ", 1.0
    if expected.grouped:
        grouped = any(select.args.get("group") for select in query.selects())
        if grouped:
            yield "group_by_matches", 1.0
        elif not _names_figure(query):
            yield "group_by_missing", 1.0
    if expected.best:
        ordered = tree.find(exp.Order) is not None and tree.find(exp.Limit, exp.Fetch) is not None
        extreme = ordered or tree.find(exp.Max, exp.Min, exp.Window) is not None
        yield "order_and_limit_match" if extreme else "best_missing", 1.0
    limit = _find_limit(query)
    if expected.rows is not None and (
        limit not in (None, expected.rows) or (expected.rows > 1 and _takes_extreme(tree))
    ):
        yield "limit_differs", 1.0
    if expected.ordered and tree.find(exp.Order) is None:
        yield "order_missing", 1.0
    counts = tree.find(exp.Count, exp.Sum, exp.Avg) is not None
    if expected.count and not counts and not _names_figure(query):
        yield "count_missing", 1.0
    if expected.average and tree.find(exp.Avg) is None and not _names_average(query):
        yield "average_missing", 1.0
    if expected.negated and not _is_negated(tree):
        yield "negation_missing", 1.0
    if expected.pattern and _compares_whole_texts(tree):
        yield "pattern_missing", 1.0
    yield from _measure_distinct(expected, query)


def measure_literals(question: str, query: Query, context: SchemaContext) -> Iterator[Measure]:
    """Measures of literals that the question does not mention, and of numbers that it does.

    A code that the description of its column explains, such as ``CXL``, counts as mentioned, and so
    does a literal of a definition that the question names. ``values_unsaid`` are those that are
    stored if the query finds anything.

    >>> from ranking.query import read_query
    >>> query = read_query("SELECT 1 FROM t WHERE a > 5 AND b = 'open'", "sqlite")
    >>> list(measure_literals("over 5 and before 2014", query, SchemaContext((), (), ())))
    [('values_unsaid', 0.5), ('numbers_missing', 0.5)]
    """
    conditions = list(list_conditions(query))
    known = {match.value.strip().lower() for match in context.values}
    known |= set(_list_defined(context))
    literals = {literal.this for literal in query.find_all(exp.Literal)}
    # "More than one" is > 1 or >= 2.
    meant = [{figure for _, figure in pairs} for pairs in list_comparisons(question)]
    known |= {figure for figures in meant for figure in figures}
    glosses = dict(context.glosses)
    unsaid = [
        condition
        for condition in conditions
        if not is_said(condition.text, question)
        and condition.text.strip(" %").lower() not in known
        and (condition.is_string or condition.text not in ("0", "1"))
        and not (condition.use and is_said(condition.text, _describe(condition.use, glosses)))
    ]
    shown = sum(condition.is_shown for condition in unsaid)
    if len(unsaid) > shown:
        yield "literals_unsaid", (len(unsaid) - shown) / len(conditions)
    if shown:
        yield "values_unsaid", shown / len(conditions)
    if said := list_numbers(question):
        # SQLite reads "338" as a text if there is no such column.
        written = " ".join([*literals, *(column.name for column in query.find_all(exp.Column))])
        held = {figure for figures in meant if figures & literals for figure in figures}
        missing = [number for number in said if number not in written and number not in held]
        if missing:
            yield "numbers_missing", len(missing) / len(said)


def _describe(use: ColumnUse, glosses: Mapping[str, str]) -> str:
    return f"{use.column.comment} {glosses.get(use.name, '')}"


def _list_defined(context: SchemaContext) -> Iterator[str]:
    """The literals of the definitions, in lower case."""
    for definition in context.definitions:
        if (meant := read_candidate(definition.query, context)) is not None:
            for literal in meant.find_all(exp.Literal):
                yield literal.this.strip(" %").lower()


def count_columns(query: Query) -> int | None:
    """The number of the result's columns; None if it depends on a star.

    >>> from ranking.query import read_query
    >>> count_columns(read_query("SELECT a, b FROM t UNION SELECT c, d FROM u", "sqlite"))
    2
    """
    select = query.outermost()
    return None if select is None or select.is_star else len(select.expressions)


def _measure_distinct(expected: Expectations, query: Query) -> Iterator[Measure]:
    select = query.outermost()
    if select is None:
        return
    if not expected.distinct:
        if select.args.get("distinct"):
            yield "distinct_unasked", 1.0
    elif (
        query.tree.find(exp.Distinct) is None
        and isinstance(query.tree, exp.Select)
        and not select.args.get("group")
    ):
        yield "distinct_missing", 1.0


def _find_limit(query: Query) -> int | None:
    limit = query.tree.args.get("limit")
    count = limit and (limit.args.get("expression") or limit.args.get("count"))
    return int(count.this) if isinstance(count, exp.Literal) and count.this.isdigit() else None


def _takes_extreme(tree: exp.Expr) -> bool:
    """True for ``age = (SELECT max(age) …)``, which only the rows at the very end meet."""
    return any(
        isinstance(node.args["expression"], exp.Subquery)
        and node.args["expression"].find(exp.Max, exp.Min) is not None
        for node in find_all(tree, exp.EQ)
    )


def _names_figure(query: Query) -> bool:
    """True if a column's name says that it is a number of something: it is counted already."""
    return any(_FIGURE_NAME.search(column.name) for column in query.find_all(exp.Column))


def _names_average(query: Query) -> bool:
    """True if a column's name says that it is an average, so that AVG is not needed."""
    names = [column.name.lower() for column in query.find_all(exp.Column)]
    return any(word in name for word in ("average", "avg", "mean") for name in names)


def _compares_whole_texts(tree: exp.Expr) -> bool:
    """True for texts in conditions, and no LIKE, regular expression or part of a text."""
    if tree.find(*_PARTS):
        return False
    return any(literal.is_string for literal in find_all(tree, exp.Literal))


def _is_negated(tree: exp.Expr) -> bool:
    """True for NOT, <>, EXCEPT, an outer join, and a comparison with 0."""
    if tree.find(exp.Not, exp.NEQ, exp.Except, exp.LT, exp.LTE, exp.GT) is not None:
        return True
    if any(node.args.get("negate") for node in find_all(tree, exp.Like, exp.ILike, exp.Is, exp.In)):
        return True
    if any(join.side for join in find_all(tree, exp.Join)):
        return True
    return any(eq.args["expression"].name == "0" for eq in find_all(tree, exp.EQ))
