"""Compares what a query returns with the list of things that the question begins with.

A measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.expectations.asked_columns import list_outputs
from nl2sql.expectations.said_texts import is_same_word
from nl2sql.sql.nodes import find_all
from nl2sql.words import split_words
from ranking.query import Query
from ranking.score.question_terms import Measure

_AGGREGATES: tuple[tuple[type[exp.Expr], str], ...] = (
    (exp.Avg, "average mean avg"),
    (exp.Count, "number count"),
    (exp.Max, "maximum max highest"),
    (exp.Min, "minimum min lowest"),
    (exp.Sum, "total sum"),
)


def measure_asked_outputs(question: str, query: Query) -> Iterator[Measure]:
    """Yields the share of the outputs that are named like none of the things.

    An output may also be named by its table: "the trucks" may be any column of truck.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> truck = Table("s", "truck", (Column("model", "text"), Column("licence", "int")))
    >>> query = read_query("SELECT licence FROM truck ORDER BY licence", "sqlite", [truck])
    >>> list(measure_asked_outputs("Show the models by licence.", query))
    [('outputs_unasked', 1.0)]
    >>> list(measure_asked_outputs("Show the trucks by licence.", query))
    []
    """
    asked = [word for thing in list_outputs(question) for word in thing]
    select = query.outermost()
    if not asked or select is None or select.is_star:
        return
    unasked = sum(
        not any(is_same_word(word, other) for word in _list_words(output, query) for other in asked)
        for output in select.expressions
    )
    if unasked:
        yield "outputs_unasked", unasked / len(select.expressions)


def _list_words(output: exp.Expr, query: Query) -> Iterator[str]:
    """The words of the columns and their tables, and those for the aggregates."""
    for column in find_all(output, exp.Column):
        yield from split_words(column.name)
        if (use := query.resolve(column)) is not None:
            yield from split_words(use.table.name)
    for kind, words in _AGGREGATES:
        if output.find(kind):
            yield from words.split()
