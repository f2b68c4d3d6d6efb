"""Measures how much of the question a query speaks of.

A measure has a name and a strength between 0 and 1; one that does not apply is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from nl2sql.expectations.said_texts import is_same_word
from nl2sql.words import content_words, split_words
from ranking.score.question_terms import Measure

_WORD = re.compile(r"\w+")


def measure_coverage(question: str, sql: str) -> Iterator[Measure]:
    """Yields the share of the question's words that no name, literal or keyword contains.

    The words that no candidate can contain are the same for all, and so do not count in the vote.

    >>> list(measure_coverage("Names of young singers?", "SELECT name FROM singer"))
    [('words_unused', 0.3333333333333333)]
    """
    asked = set(content_words(question))
    written = {word for run in _WORD.findall(sql) for word in split_words(run)}
    unused = sum(not any(is_same_word(word, other) for other in written) for word in asked)
    if unused:
        yield "words_unused", unused / len(asked)
