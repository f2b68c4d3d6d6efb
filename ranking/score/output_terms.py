"""Measures what a query returns and reads beyond what the question speaks of.

Each measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from nl2sql.expectations.said_texts import is_same_word
from nl2sql.words import split_words
from ranking.query import ColumnUse, Query
from ranking.score.question_terms import Measure

# With so many tables beyond the first, the measure has its full strength.
_MANY_TABLES = 4


def measure_outputs(question: str, query: Query) -> Iterator[Measure]:
    """Yields returned columns that the question does not name, and tables beyond the first.

    >>> from nl2sql.catalog import Column, Table
    >>> from ranking.query import read_query
    >>> pets = Table("s", "pets", (Column("pet_id", "int"), Column("age", "int")))
    >>> query = read_query("SELECT pet_id, age FROM pets JOIN owners USING (id)", "sqlite", [pets])
    >>> list(measure_outputs("What are the ages of pets?", query))
    [('columns_unnamed', 0.25), ('tables_added', 0.25)]
    """
    select = query.outermost()
    outputs = [output.unalias() for output in select.expressions] if select else []
    if uses := [use for output in outputs if (use := query.resolve(output)) is not None]:
        said = split_words(question)
        unnamed = sum(_measure_unsaid(use, said) for use in uses) / len(outputs)
        if unnamed:
            yield "columns_unnamed", unnamed
    added = len(query.find_all(exp.Table)) - 1
    if added > 0:
        yield "tables_added", min(added, _MANY_TABLES) / _MANY_TABLES


def _measure_unsaid(use: ColumnUse, said: Sequence[str]) -> float:
    """The share of a column name's words that the question does not contain."""
    words = split_words(use.column.name)
    unsaid = [word for word in words if not any(is_same_word(word, other) for other in said)]
    return len(unsaid) / len(words) if words else 0.0
