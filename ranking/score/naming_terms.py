"""Measures whether what a query reads and filters by is what the question names.

Each measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from nl2sql.expectations.said_texts import is_said_verbatim
from nl2sql.types import SchemaContext
from nl2sql.words import split_words
from ranking.query import Query
from ranking.score.literals import list_conditions
from ranking.score.question_terms import Measure

# The words around a figure that may name its column: "more than 20 shops", "a capacity over 500".
_BEFORE, _AFTER = 6, 3
# Words of a column's name that a question leaves out.
_EMPTY = frozenset("num number no of id".split())
_LONG = 4
_FIGURE = re.compile(r"\d+(?:\.\d+)?")


def measure_naming(question: str, query: Query, context: SchemaContext) -> Iterator[Measure]:
    """Yields tables and columns of conditions that the question does not name, and literals.

    >>> from ranking.query import read_query
    >>> query = read_query(
    ...     "SELECT name FROM maker WHERE factories > 20 AND city = 'Dinning'", "sqlite"
    ... )
    >>> list(measure_naming("makers in Dining, over 20 shops", query, SchemaContext((), (), ())))
    [('filters_unnamed', 1.0), ('figures_misplaced', 1.0), ('literals_inexact', 1.0)]
    """
    said = split_words(question)
    known = frozenset(said)
    tables = {table.name.lower() for table in query.find_all(exp.Table)}
    if unnamed := sum(not known.issuperset(split_words(name)) for name in tables):
        yield "tables_unnamed", unnamed / len(tables)
    columns = [
        column
        for clause in query.find_all(exp.Where, exp.Having)
        for column in clause.find_all(exp.Column)
    ]
    if unnamed := sum(known.isdisjoint(split_words(column.name)) for column in columns):
        yield "filters_unnamed", unnamed / len(columns)
    yield from _measure_figures(said, query)
    # Shorter ones are codes and flags; dates are written in many ways.
    conditions = [
        condition
        for condition in list_conditions(query)
        if condition.is_string and sum(map(str.isalpha, condition.text)) >= _LONG
    ]
    stored = {match.value.casefold() for match in context.values}
    if inexact := sum(
        not is_said_verbatim(condition.text, question)
        and condition.text.strip(" %").casefold() not in stored
        for condition in conditions
    ):
        yield "literals_inexact", inexact / len(conditions)


def _measure_figures(said: Sequence[str], query: Query) -> Iterator[Measure]:
    """Figures of the question that are compared with a column that is not named near them."""
    pairs = [
        (node.this.name, node.args["expression"].this)
        for node in query.find_all(exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
        if isinstance(node.this, exp.Column) and isinstance(node.args["expression"], exp.Literal)
    ]
    pairs = [(name, figure) for name, figure in pairs if _FIGURE.fullmatch(figure)]
    misplaced = sum(_is_misplaced(name, figure, said) for name, figure in pairs)
    if misplaced:
        yield "figures_misplaced", misplaced / len(pairs)


def _is_misplaced(name: str, figure: str, said: Sequence[str]) -> bool:
    words = set(split_words(name)) - _EMPTY
    places = [at for at, word in enumerate(said) if word == figure]
    return bool(places) and not any(
        words.intersection(said[max(0, at - _BEFORE) : at + _AFTER + 1]) for at in places
    )
