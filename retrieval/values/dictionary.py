"""All indexed values of one database in memory, looked up by phrase.

A value is found by the same words in any spelling, by a similar text with the same first letter
(typing errors), or by a text that begins with the phrase. Knows nothing of principals: the caller
must check which values the principal may see.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter

from rapidfuzz import process
from rapidfuzz.distance import Indel

from nl2sql.concurrency import SingleFlight
from nl2sql.errors import IndexUnavailable
from nl2sql.types import ValueMatch
from retrieval.index_store.value_store import ValueColumn, ValueStore
from retrieval.values.phrases import ValuePhrase, fold_text

# Letters in common, as a share of both texts: "germny" has 0.92 of Germany.
LEAST_LETTERS = 0.84
_SHORTEST_FUZZY = 5
_MOST_SIMILAR = 40
# If more values begin with the phrase, none of them is meant.
_MOST_BEGINNINGS = 3
_MOST_VISITED = 200

ALIAS_SCORE = 0.92
_FUZZY_SCORE = 0.9
_BEGINNING_SCORE = 0.6


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A value that a phrase may mean, with a score from 0 to 1."""

    phrase: ValuePhrase
    column: ValueColumn
    value: str
    score: float

    def build_match(self) -> ValueMatch:
        """The match as the other stages know it."""
        column = self.column
        score = round(self.score, 3)
        return ValueMatch(self.phrase.text, column.table, column.column, self.value, score)


class ValueDictionary:
    """The values of ``columns``. Building takes about 1 s for 100,000 values."""

    def __init__(self, columns: Sequence[ValueColumn]) -> None:
        self._columns = tuple(columns)
        self._by_name = {column.qualified: column.values for column in columns}
        # Folded text, number of the column, value, and whether the text is an alias.
        meant: list[tuple[str, int, str, bool]] = []
        for owner, column in enumerate(self._columns):
            meant += ((fold_text(value), owner, value, False) for value in column.values)
            meant += ((fold_text(words), owner, of, True) for words, of in column.aliases.items())
        # Sorted, so that texts with a common beginning are adjacent.
        self._meant = sorted((each for each in meant if each[0]), key=itemgetter(0))
        self._texts: list[str] = []
        self._starts: list[int] = []
        for at, (text, *_) in enumerate(self._meant):
            if not self._texts or text != self._texts[-1]:
                self._texts.append(text)
                self._starts.append(at)
        self._starts.append(len(self._meant))
        self._squeezed = [text.replace(" ", "") for text in self._texts]

    def values_of(self, qualified: str) -> tuple[str, ...]:
        """The values of ``schema.table.column``; empty if they are not indexed."""
        return self._by_name.get(qualified, ())

    def find_exact(self, phrase: ValuePhrase) -> list[FoundValue]:
        """Values with these words, in any spelling; score 1, or less for an alias."""
        at = bisect_left(self._texts, phrase.folded)
        is_there = self._texts[at : at + 1] == [phrase.folded]
        return self._read(phrase, at, 1.0, is_exact=True) if is_there else []

    def find_similar(self, phrase: ValuePhrase) -> list[FoundValue]:
        """Values with nearly these letters; the first letter and all digits must be equal."""
        folded = phrase.folded
        if len(folded) < _SHORTEST_FUZZY:
            return []
        digits = _digits(folded)
        start = bisect_left(self._texts, folded[0])
        end = bisect_left(self._texts, chr(ord(folded[0]) + 1))
        similar = process.extract(
            folded.replace(" ", ""),
            self._squeezed[start:end],
            scorer=Indel.normalized_similarity,
            score_cutoff=LEAST_LETTERS,
            limit=_MOST_SIMILAR,
        )
        found = []
        for _, ratio, at in similar:
            text = self._texts[start + at]
            if text != folded and _digits(text) == digits:
                found += self._read(phrase, start + at, round(_FUZZY_SCORE * ratio, 3))
        return found

    def find_beginnings(
        self, phrase: ValuePhrase, admits: Callable[[ValueColumn], bool]
    ) -> list[FoundValue]:
        """Longer values that begin with these words; none if there are more than three.

        Only columns for which ``admits`` is true are searched and counted.
        """
        start = bisect_left(self._texts, phrase.folded + " ")
        end = bisect_left(self._texts, phrase.folded + "!")
        if end - start > _MOST_VISITED:
            return []
        found = []
        texts = set()
        for at in range(start, end):
            share = len(phrase.folded) / len(self._texts[at])
            for value in self._read(phrase, at, round(_BEGINNING_SCORE + 0.3 * share, 3)):
                if admits(value.column):
                    texts.add(at)
                    found.append(value)
        return found if len(texts) <= _MOST_BEGINNINGS else []

    def _read(
        self, phrase: ValuePhrase, at: int, score: float, *, is_exact: bool = False
    ) -> list[FoundValue]:
        """The values of the text at that place; aliases only for an exact match."""
        alias_score = round(score * ALIAS_SCORE, 3)
        return [
            FoundValue(phrase, self._columns[owner], value, alias_score if is_alias else score)
            for _, owner, value, is_alias in self._meant[self._starts[at] : self._starts[at + 1]]
            if is_exact or not is_alias
        ]


def _digits(text: str) -> list[str]:
    return [letter for letter in text if letter.isdigit()]


_FRESH_S = 1.0
# Of a database; the smallest columns come first.
_MOST_VALUES = 1_000_000


class ValueMemory:
    """Dictionaries of the values of databases, of the smallest columns if there are too many.

    The version is checked again after a second.
    """

    def __init__(self, store: ValueStore) -> None:
        self._store = store
        # Database → when it was checked, the version, and the values.
        self._loaded: dict[str, tuple[float, str, ValueDictionary]] = {}
        self._loading = SingleFlight[ValueDictionary]()

    async def dictionary(self, database: str) -> ValueDictionary:
        """The values of the last refresh.

        If the index does not answer, those in memory stay in use; raises IndexUnavailable if there
        are none.
        """
        known = self._loaded.get(database)
        if known is not None and time.monotonic() - known[0] < _FRESH_S:
            return known[2]
        return await self._loading.run(database, lambda: self._load(database))

    async def _load(self, database: str) -> ValueDictionary:
        _, version, values = self._loaded.get(database, (0.0, "", None))
        try:
            newest = await self._store.version(database)
            if values is None or newest != version:
                columns = await self._store.load(database, _MOST_VALUES)
                version, values = newest, await asyncio.to_thread(ValueDictionary, columns)
        except IndexUnavailable:
            if values is None:
                raise
        self._loaded[database] = (time.monotonic(), version, values)
        return values
