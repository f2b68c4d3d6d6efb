"""All indexed values of one database in memory, looked up by phrase.

A value is found by the same words in any spelling, by a similar text with the same first letter
(typing errors), or by a text that begins with the phrase. Knows nothing of principals: the caller
must check which values the principal may see.
"""

from __future__ import annotations

import asyncio
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
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
        self._squeezed = [text.replace(" ", "") for text in self._texts]

    def values_of(self, qualified: str) -> tuple[str, ...]:
        """The values of ``schema.table.column``; empty if they are not indexed."""
        return self._by_name.get(qualified, ())

    def find_exact(self, phrase: ValuePhrase) -> list[FoundValue]:
        """Values with these words, in any spelling; score 1, or less for an alias."""
        at = self._places.get(phrase.folded)
        return [] if at is None else self._read(phrase, at, 1.0, is_exact=True)

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
        return [
            FoundValue(
                phrase,
                self._columns[self._owners[number]],
                self._values[number],
                round(score * ALIAS_SCORE, 3) if self._aliases[number] else score,
            )
            for number in range(self._starts[at], self._starts[at + 1])
            if is_exact or not self._aliases[number]
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
