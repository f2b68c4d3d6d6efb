"""All indexed values of one database in memory, looked up by phrase.

A value is found by the same words in any spelling, by a similar text (typing errors; its trigrams
are looked up first), or by a text that begins with the phrase. Knows nothing of principals: the
caller must check which values the principal may see.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from retrieval.index_store.value_store import ValueColumn
from retrieval.values.phrases import fold_text

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


# Letters in common, as a share of both texts: "germny" has 0.92 of Germany.
LEAST_LETTERS = 0.84
# The resulting limit for the lengths: 2 * shorter >= 0.84 * both.
_LEAST_SHARE = LEAST_LETTERS / (2 - LEAST_LETTERS)
_MOST_COMPARED = 40
_SHORTEST_FUZZY = 5
# If more values begin with the phrase, none of them is meant.
_MOST_BEGINNINGS = 3
_MOST_VISITED = 200

# Columns with at most this many values are shown with all of them.
_MOST_ENUMERATED = 12

ALIAS_SCORE = 0.92
_FUZZY_SCORE = 0.9
_BEGINNING_SCORE = 0.6


@dataclass(frozen=True, slots=True)
class Hit:
    """A value that a phrase may mean, with a score from 0 to 1."""

    column: ValueColumn
    value: str
    score: float


class ValueDictionary:
    """The values of ``columns``. Building takes about 1 s for 100,000 values.

    ``enumerations`` are the columns with few values: ``schema.table.column`` → all of them.
    """

    def __init__(self, columns: Sequence[ValueColumn]) -> None:
        self.enumerations = {
            column.qualified: column.values
            for column in columns
            if len(column.values) <= _MOST_ENUMERATED
        }
        self._columns = tuple(columns)
        self._by_name = {column.qualified: column.values for column in columns}
        numbers: dict[str, int] = {}
        texts, owners, aliases = array("q"), array("q"), array("b")
        values: list[str] = []
        for owner, column in enumerate(self._columns):
            meant = [(value, value, 0) for value in column.values]
            meant += [(words, value, 1) for words, value in column.aliases.items()]
            for words, value, is_alias in meant:
                if folded := fold_text(words):
                    texts.append(numbers.setdefault(folded, len(numbers)))
                    owners.append(owner)
                    values.append(value)
                    aliases.append(is_alias)
        # Sorted, so that texts with a common beginning are adjacent.
        self._texts = sorted(numbers)
        self._places = {text: at for at, text in enumerate(self._texts)}
        place = np.empty(len(numbers), dtype=np.int64)
        place[[numbers[text] for text in self._texts]] = np.arange(len(numbers))
        found = place[np.frombuffer(texts, dtype=np.int64)]
        order = np.argsort(found, kind="stable")
        self._starts = np.searchsorted(found[order], np.arange(len(numbers) + 1))
        self._owners = np.frombuffer(owners, dtype=np.int64)[order].astype(np.int32)
        self._aliases = np.frombuffer(aliases, dtype=np.int8)[order]
        self._values = [values[at] for at in order]
        self._trigrams = TrigramIndex(self._texts)

    def __len__(self) -> int:
        return sum(len(column.values) for column in self._columns)

    def values_of(self, qualified: str) -> tuple[str, ...]:
        """The values of ``schema.table.column``; empty if they are not indexed."""
        return self._by_name.get(qualified, ())

    def find_exact(self, folded: str) -> list[Hit]:
        """Values with these words, in any spelling; score 1, or less for an alias."""
        at = self._places.get(folded)
        return [] if at is None else self._hits(at, 1.0, is_exact=True)

    def find_similar(self, folded: str) -> list[Hit]:
        """Values with nearly these letters; the first letter and all digits must be equal."""
        if len(folded) < _SHORTEST_FUZZY:
            return []
        digits = _digits(folded)
        hits = []
        squeezed = folded.replace(" ", "")
        for at in self._trigrams.find(folded, _LEAST_SHARE, _MOST_COMPARED):
            text = self._texts[at]
            if text[0] != folded[0]:
                continue
            ratio = Indel.normalized_similarity(
                squeezed, text.replace(" ", ""), score_cutoff=LEAST_LETTERS
            )
            if ratio and text != folded and _digits(text) == digits:
                hits += self._hits(at, round(_FUZZY_SCORE * ratio, 3))
        return hits

    def find_beginnings(self, folded: str, admits: Callable[[ValueColumn], bool]) -> list[Hit]:
        """Longer values that begin with these words; none if there are more than three.

        Only columns for which ``admits`` is true are searched and counted.
        """
        start = bisect_left(self._texts, folded + " ")
        end = bisect_left(self._texts, folded + "!")
        if end - start > _MOST_VISITED:
            return []
        hits = []
        texts = set()
        for at in range(start, end):
            share = len(folded) / len(self._texts[at])
            admitted = [
                hit
                for hit in self._hits(at, round(_BEGINNING_SCORE + 0.3 * share, 3))
                if admits(hit.column)
            ]
            if admitted:
                texts.add(at)
                hits += admitted
        return hits if len(texts) <= _MOST_BEGINNINGS else []

    def _hits(self, at: int, score: float, *, is_exact: bool = False) -> list[Hit]:
        """The values of the text at that place; aliases only for an exact match."""
        return [
            Hit(
                self._columns[self._owners[number]],
                self._values[number],
                round(score * ALIAS_SCORE, 3) if self._aliases[number] else score,
            )
            for number in range(self._starts[at], self._starts[at + 1])
            if is_exact or not self._aliases[number]
        ]


def _digits(text: str) -> list[str]:
    return [letter for letter in text if letter.isdigit()]
