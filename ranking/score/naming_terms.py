"""Measures whether the tables of a query, and the columns of its figures, are named.

Each measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from nl2sql.words import split_words
from ranking.definition_use import DefinitionUse
from ranking.query import Query
from ranking.score.question_terms import Measure

# The words around a figure that may name its column: "more than 20 shops", "a capacity over 500".
_BEFORE, _AFTER = 6, 3
# Words of a column's name that a question leaves out.
_EMPTY = frozenset("num number no of id".split())
_FIGURE = re.compile(r"\d+(?:\.\d+)?")


def measure_naming(
    question: str, query: Query, uses: Sequence[DefinitionUse] = ()
) -> Iterator[Measure]:
    """Yields tables that the question does not name, and misplaced figures.

    The tables of a definition that the query uses are named by it.

    >>> from ranking.query import read_query
    >>> query = read_query("SELECT name FROM car_maker WHERE factories > 20", "sqlite")
    >>> list(measure_naming("makers with over 20 shops", query))
    [('tables_unnamed', 1.0), ('figures_misplaced', 1.0)]
    """
    said = split_words(question)
    known = frozenset(said)
    tables = {table.name.lower() for table in query.find_all(exp.Table)}
    defined = {
        table.rpartition(".")[2].lower()
        for use in uses
        if use.is_whole
        for table in use.definition.tables
    }
    unnamed = sum(not known.issuperset(split_words(name)) for name in tables - defined)
    if unnamed:
        yield "tables_unnamed", unnamed / len(tables)
    yield from _measure_figures(said, query)


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
