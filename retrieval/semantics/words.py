"""Matches the names and synonyms of definitions with the words of a question.

Words are folded as for search: case, accents and plurals do not count, nor do function words. A
name of several words matches if the question has all of them close together, in any order:
"active customers", "customers that are still active".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nl2sql.words import content_words

# Other words that may stand between those of a name.
_MOST_BETWEEN = 2


@dataclass(frozen=True, slots=True)
class Phrase:
    """A name or synonym, as the file spells it, and its folded words."""

    text: str
    words: tuple[str, ...]


def read_phrases(texts: Iterable[str]) -> tuple[Phrase, ...]:
    """The phrases of a definition, without those that have only function words.

    >>> read_phrases(["Open orders", "the"])
    (Phrase(text='Open orders', words=('open', 'order')),)
    """
    phrases = (Phrase(text, tuple(content_words(text))) for text in texts)
    return tuple({phrase.words: phrase for phrase in phrases if phrase.words}.values())


def find_phrase(phrase: Phrase, asked: Sequence[str]) -> frozenset[int] | None:
    """The positions of the phrase's words among the question's; None if it is not there.

    >>> asked = content_words("How many customers are still active in sunny Italy?")
    >>> sorted(find_phrase(Phrase("", ("active", "customer")), asked))
    [0, 2]
    >>> find_phrase(Phrase("", ("customer", "italy")), asked)
    """
    wanted = set(phrase.words)
    width = len(wanted) + (_MOST_BETWEEN if len(wanted) > 1 else 0)
    if not wanted.issubset(asked):
        return None
    best: frozenset[int] | None = None
    for start, first in enumerate(asked):
        if first not in wanted:
            continue
        places: dict[str, int] = {}
        for position in range(start, min(len(asked), start + width)):
            if asked[position] in wanted:
                places.setdefault(asked[position], position)
        if len(places) == len(wanted):
            span = frozenset(places.values())
            if best is None or max(span) - min(span) < max(best) - min(best):
                best = span
    return best
