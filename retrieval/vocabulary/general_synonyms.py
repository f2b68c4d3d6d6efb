"""General synonyms, by the packaged list (``synonyms.yaml``)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from nl2sql.packaged import read_packaged
from nl2sql.words import fold_plural

_NONE: frozenset[str] = frozenset()


def related_words(word: str) -> frozenset[str]:
    """Other words for a folded, lower-case word; for most words none.

    >>> sorted(related_words("customer"))[:3]
    ['buyer', 'client', 'purchaser']
    """
    return _load().get(word, _NONE)


@cache
def _load() -> Mapping[str, frozenset[str]]:
    related: dict[str, frozenset[str]] = {}
    for line in read_packaged(__package__, "synonyms.yaml"):
        group = frozenset(fold_plural(word) for word in line.split())
        for word in group:
            related[word] = related.get(word, _NONE) | group - {word}
    return related
