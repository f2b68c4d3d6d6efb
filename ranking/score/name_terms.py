"""Measures whether question and query name the same things: outputs, tables, words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from nl2sql.expectations.asked_columns import list_outputs
from nl2sql.expectations.said_texts import is_same_word
from nl2sql.sql.nodes import find_all
from nl2sql.words import content_words, split_words
from ranking.definition_use import DefinitionUse
from ranking.query import ColumnUse, Query
from ranking.score.points import Measure

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
    outputs = query.outputs()
    if not asked or not outputs:
        return
    unasked = sum(
        not any(is_same_word(word, other) for word in _list_words(output, query) for other in asked)
        for output in outputs
    )
    if unasked:
        yield "outputs_unasked", unasked / len(outputs)


def _list_words(output: exp.Expr, query: Query) -> Iterator[str]:
    """The words of the columns and their tables, and those for the aggregates."""
    for column in find_all(output, exp.Column):
        yield from split_words(column.name)
        if (use := query.resolve(column)) is not None:
            yield from split_words(use.table.name)
    for kind, words in _AGGREGATES:
        if output.find(kind):
            yield from words.split()


def measure_outputs(question: str, query: Query) -> Iterator[Measure]:
    """Yields returned columns that the question does not name.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> pets = Table("s", "pets", (Column("pet_id", "int"), Column("age", "int")))
    >>> query = read_query("SELECT pet_id, age FROM pets JOIN owners USING (id)", "sqlite", [pets])
    >>> list(measure_outputs("What are the ages of pets?", query))
    [('columns_unnamed', 0.25)]
    """
    select = query.outermost()
    outputs = [output.unalias() for output in select.expressions] if select else []
    if uses := [use for output in outputs if (use := query.resolve(output)) is not None]:
        said = split_words(question)
        unnamed = sum(_measure_unsaid(use, said) for use in uses) / len(outputs)
        if unnamed:
            yield "columns_unnamed", unnamed


def _measure_unsaid(use: ColumnUse, said: Sequence[str]) -> float:
    """The share of a column name's words that the question does not contain."""
    words = split_words(use.column.name)
    unsaid = [word for word in words if not any(is_same_word(word, other) for other in said)]
    return len(unsaid) / len(words) if words else 0.0


def measure_naming(
    question: str, query: Query, uses: Sequence[DefinitionUse] = ()
) -> Iterator[Measure]:
    """Yields the share of the tables that the question does not name.

    The tables of a definition that the query uses are named by it.

    >>> from ranking.query import read_query
    >>> query = read_query("SELECT name FROM car_maker", "sqlite")
    >>> list(measure_naming("makers", query))
    [('tables_unnamed', 1.0)]
    """
    known = frozenset(split_words(question))
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


_WORD = re.compile(r"\w+")


def measure_coverage(
    question: str, sql: str, query: Query, uses: Sequence[DefinitionUse] = ()
) -> Iterator[Measure]:
    """Yields the share of the question's words that no name, literal or keyword contains.

    The words that no candidate can contain are the same for all, and so do not count in the vote.
    Names that the query gives itself say nothing: a model takes them from the question. A query
    that uses a definition speaks of what it is called.

    >>> from ranking.query import read_query
    >>> sql = "SELECT name AS young FROM singer"
    >>> list(measure_coverage("Names of young singers?", sql, read_query(sql, "sqlite")))
    [('words_unused', 0.3333333333333333)]
    """
    given = {alias.alias.lower() for alias in query.find_all(exp.Alias)}
    given -= {
        use.column.name.lower() for use in map(query.resolve, query.find_all(exp.Column)) if use
    }
    asked = set(content_words(question))
    written = {
        word for run in _WORD.findall(sql) if run.lower() not in given for word in split_words(run)
    }
    written |= {word for use in uses if use.is_whole for word in split_words(use.definition.phrase)}
    unused = sum(not any(is_same_word(word, other) for other in written) for word in asked)
    if unused:
        yield "words_unused", unused / len(asked)
