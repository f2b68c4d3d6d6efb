"""The words of a question for keyword search."""

from __future__ import annotations

from dataclasses import dataclass

from nl2sql.words import content_words
from retrieval.vocabulary.general_synonyms import related_words


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """``own`` words of the question, and ``related`` words, which have less weight."""

    own: tuple[str, ...]
    related: tuple[str, ...]


def read_words(*texts: str) -> QuestionWords:
    """The distinct folded words of all texts.

    >>> read_words("Which vocalists sing?").own
    ('vocalist', 'sing')
    """
    own = tuple(dict.fromkeys(word for text in texts for word in content_words(text)))
    related = {other for word in own for other in related_words(word)}
    return QuestionWords(own, tuple(sorted(related - set(own))))
