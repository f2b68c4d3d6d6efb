"""Finds questions that must not be trained on, because others like them are measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rapidfuzz import fuzz, process

from nl2sql.words import split_words

_ALIKE = 90.0


def find_overlaps(
    questions: Sequence[str], measured: Iterable[str], *, alike: float = _ALIKE
) -> dict[int, str]:
    """The places of ``questions`` that occur among those measured, with the measured one.

    Compared are the words in any order, without case, punctuation and plural: a question occurs if
    the letters of its sorted words are those of a measured one by at least ``alike`` percent (the
    normalized Indel similarity).

    >>> find_overlaps(
    ...     ["Which singers are from France?", "List the ships."], ["From France: which singer are"]
    ... )
    {0: 'From France: which singer are'}
    """
    others = {_sort_words(text): text for text in measured}
    keys = list(map(_sort_words, questions))
    found = {at: others[key] for at, key in enumerate(keys) if key in others}
    rest = [at for at in range(len(keys)) if at not in found]
    if not rest or not others:
        return found
    names = list(others)
    # The matrix of all pairs would take gigabytes for large benchmarks.
    for at in rest:
        near = process.extractOne(keys[at], names, scorer=fuzz.ratio, score_cutoff=alike)
        if near is not None:
            found[at] = others[near[0]]
    return dict(sorted(found.items()))


def _sort_words(text: str) -> str:
    return " ".join(sorted(split_words(text)))
