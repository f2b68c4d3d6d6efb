"""Measures the conditions of a query: operators, directions, literals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from nl2sql.expectations.asked_comparisons import list_comparisons
from nl2sql.expectations.expectations import Expectations
from nl2sql.expectations.said_texts import is_said, list_numbers
from nl2sql.sql.nodes import find_all
from nl2sql.types import SchemaContext
from ranking.conditions import list_conditions
from ranking.query import ColumnUse, Query, read_candidate
from ranking.score.points import Measure


def measure_literals(question: str, query: Query, context: SchemaContext) -> Iterator[Measure]:
    """Measures of literals that the question does not mention, and of numbers that it does.

    A code that the description of its column explains, such as ``CXL``, counts as mentioned, and so
    does a literal of a definition that the question names. ``values_unsaid`` are those that are
    stored if the query finds anything.

    >>> from ranking.query import read_query
    >>> query = read_query("SELECT 1 FROM t WHERE a > 5 AND b = 'open'", "sqlite")
    >>> list(measure_literals("over 5 and before 2014", query, SchemaContext()))
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
        and (condition.literal.is_string or condition.text not in ("0", "1"))
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


_OPERATORS: dict[type[exp.Expr], str] = {
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.EQ: "=",
    exp.NEQ: "<>",
}
_TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


def measure_comparisons(expected: Expectations, query: Query) -> Iterator[Measure]:
    """Yields comparisons and orders in the wrong direction.

    A figure that the query does not contain at all is not checked here.

    >>> from nl2sql.expectations.expectations import read_expectations
    >>> from ranking.query import read_query
    >>> query = read_query("SELECT name FROM t WHERE age >= 5 ORDER BY age DESC LIMIT 1", "sqlite")
    >>> list(measure_comparisons(read_expectations("The name of the one over 5"), query))
    [('comparison_differs', 1.0)]
    >>> list(measure_comparisons(read_expectations("Who has the lowest age?"), query))
    [('direction_differs', 1.0)]
    """
    if comparisons := expected.comparisons:
        written = set(_list_comparisons(query))
        differ = [
            comparison
            for comparison in comparisons
            if not comparison & written and _is_held(comparison, written)
        ]
        if differ:
            yield "comparison_differs", len(differ) / len(comparisons)
    if _sorts_otherwise(expected, query.tree):
        yield "direction_differs", 1.0


def _is_held(wanted: frozenset[tuple[str, str]], written: set[tuple[str, str]]) -> bool:
    """True if one of the figures is compared with something, by any operator."""
    return not {figure for _, figure in wanted}.isdisjoint(figure for _, figure in written)


def _list_comparisons(query: Query) -> Iterator[tuple[str, str]]:
    """Operator and literal of every comparison, the literal on the right; for a date also its year.

    >>> from ranking.query import read_query
    >>> query = read_query("SELECT 1 FROM t WHERE 5 < a AND b <= '2014-01-01'", "postgres")
    >>> list(_list_comparisons(query))
    [('>', '5'), ('<=', '2014-01-01'), ('<=', '2014')]
    """
    for condition in list_conditions(query):
        node, literal = condition.node, condition.literal
        if isinstance(node, exp.Between):
            # BETWEEN is also written for "over 5 and under 9".
            operators = [">=", ">"] if literal is node.args["low"] else ["<=", "<"]
        else:
            operator = _OPERATORS.get(type(node), "")
            operators = [_TURNED.get(operator, operator) if literal is node.this else operator]
        for operator in filter(None, operators):
            yield operator, condition.text
            if condition.text[4:5] == "-":
                yield operator, condition.text[:4]


def _sorts_otherwise(expected: Expectations, tree: exp.Expr) -> bool:
    """True if no ORDER BY has the direction, or no LIMIT takes the end, that was asked for."""
    selects = [query for query in find_all(tree, exp.Query) if query.args.get("order")]
    if expected.descending is not None and selects:
        keys = [key for select in selects for key in select.args["order"].expressions]
        return all(bool(key.args.get("desc")) != expected.descending for key in keys)
    firsts = [select.args["order"].expressions[0] for select in selects if select.args.get("limit")]
    return (
        expected.highest is not None
        and bool(firsts)
        and all(bool(key.args.get("desc")) != expected.highest for key in firsts)
    )
