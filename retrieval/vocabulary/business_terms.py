"""Business terms, and the kinds of tables that they mean (``business.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from nl2sql.packaged import read_packaged
from nl2sql.words import split_words

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BusinessTerm:
    """Phrases with the same meaning, and names of tables, the most usual first; folded words."""

    phrases: tuple[Words, ...]
    tables: tuple[Words, ...]


def find_business_terms(text: str) -> tuple[BusinessTerm, ...]:
    """The terms of which ``text`` contains a phrase; a phrase inside a longer one does not count.

    >>> [term.tables[0] for term in find_business_terms("Headcount and gross margin")]
    [('employee',), ('sale', 'order', 'line')]
    >>> find_business_terms("Which rivers are long?")
    ()
    """
    words = split_words(text)
    found = [
        (at, at + len(phrase), term)
        for at, word in enumerate(words)
        for phrase, term in _load().get(word, ())
        if tuple(words[at : at + len(phrase)]) == phrase
    ]
    longest = (
        term
        for start, end, term in found
        if not any(
            other_start <= start and end <= other_end and other_end - other_start > end - start
            for other_start, other_end, _ in found
        )
    )
    return tuple(dict.fromkeys(longest))


@cache
def _load() -> Mapping[str, Sequence[tuple[Words, BusinessTerm]]]:
    """First word → the phrases that begin with it, and their terms."""
    found: dict[str, list[tuple[Words, BusinessTerm]]] = {}
    for entry in read_packaged(__package__, "business.yaml"):
        term = BusinessTerm(_split(entry["say"]), _split(entry["tables"]))
        for phrase in term.phrases:
            found.setdefault(phrase[0], []).append((phrase, term))
    return found


def _split(names: Sequence[str]) -> tuple[Words, ...]:
    return tuple(tuple(split_words(name)) for name in names)
