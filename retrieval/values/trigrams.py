"""Finds texts that share letters with a phrase: an inverted index of trigrams in NumPy.

Finds only candidates; the caller computes their similarity. Spaces do not count, so that
``newyork`` finds New York. A typing error changes at most four neighbouring trigrams, so the lists
of a phrase's rarest trigrams suffice (the prefix filter of Chaudhuri, Ganti and Kaushik, ICDE
2006); they are read up to 2,000 entries.

A trigram takes 4 bytes, a text of 20 letters about 80.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_Ints = NDArray[np.int64]

_EDGE = "\x01"
_LETTER_BITS = 21
_MOST_READ = 2000


class TrigramIndex:
    """The trigrams of ``texts``; results are positions in ``texts``."""

    def __init__(self, texts: Sequence[str]) -> None:
        codes, owners = _cut(texts)
        order = np.lexsort((owners, codes))
        codes, owners = codes[order], owners[order]
        self._vocabulary, starts = np.unique(codes, return_index=True)
        self._starts = np.append(starts, len(codes))
        self._owners = owners.astype(np.int32)
        self._lengths = np.array([len(text.replace(" ", "")) for text in texts], dtype=np.int32)

    def find(self, text: str, least_share: float, limit: int) -> list[int]:
        """At most ``limit`` positions; those that share most of the rarest trigrams come first.

        The shorter of both texts must have at least ``least_share`` of the longer one's length.

        >>> TrigramIndex(["germany", "france", "german"]).find("germny", 0.7, 5)
        [0, 2]
        """
        asked = _cut_one(text)
        at = np.searchsorted(self._vocabulary, asked)
        inside = at < len(self._vocabulary)
        at, asked = at[inside], asked[inside]
        known = at[self._vocabulary[at] == asked]
        if not len(known):
            return []
        starts, ends = self._starts[known], self._starts[known + 1]
        order = np.argsort(ends - starts, kind="stable")
        fitting = order[np.cumsum((ends - starts)[order]) <= _MOST_READ]
        if not len(fitting):
            return []
        read = np.concatenate([self._owners[starts[list_] : ends[list_]] for list_ in fitting])
        letters = len(text.replace(" ", ""))
        lengths = self._lengths[read]
        read = read[(lengths >= letters * least_share) & (lengths * least_share <= letters)]
        found, shared = np.unique(read, return_counts=True)
        best = np.argsort(-shared, kind="stable")[:limit]
        return found[best].tolist()  # type: ignore[no-any-return]


def _cut_one(text: str) -> _Ints:
    """The distinct trigrams of one text as numbers."""
    letters = [ord(letter) for letter in f"{_EDGE}{text.replace(' ', '')}{_EDGE}"]
    codes = {
        (a << (2 * _LETTER_BITS)) | (b << _LETTER_BITS) | c
        for a, b, c in zip(letters, letters[1:], letters[2:], strict=False)
    }
    return np.fromiter(codes, dtype=np.int64, count=len(codes))


def _cut(texts: Sequence[str]) -> tuple[_Ints, _Ints]:
    """The trigrams of all texts as numbers, and the position of each one's text."""
    edged = [f"{_EDGE}{text.replace(' ', '')}{_EDGE}" for text in texts]
    letters = np.frombuffer("".join(edged).encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    owners = np.repeat(np.arange(len(edged)), [len(text) for text in edged])
    codes = (letters[:-2] << (2 * _LETTER_BITS)) | (letters[1:-1] << _LETTER_BITS) | letters[2:]
    inside = owners[:-2] == owners[2:]
    return codes[inside], owners[:-2][inside]
