"""Measures how much of the question a query speaks of.

A measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from nl2sql.expectations.said_texts import is_same_word
from nl2sql.words import content_words, split_words
from ranking.definition_use import DefinitionUse
from ranking.query import Query
from ranking.score.question_terms import Measure

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
