"""Finds a text in many short lines at once, such as the names of 100,000 tables.

All lines are one array of bytes: a search reads it once, and no Python code runs for each line. A
search matches characters as they are: there are no wildcards.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# A text that occurs more often is found by comparing arrays, which takes the same time for any.
_FEW = 1000

Marks = NDArray[np.bool_]
Places = NDArray[np.int64]


class TextLines:
    """Folded lines; a search marks those that contain a text."""

    def __init__(self, lines: Sequence[str]) -> None:
        """The lines are in the form of ``fold_line``."""
        encoded = [line.encode("utf-8", "replace") for line in lines]
        self._text = b"\n".join((*encoded, b""))
        self._bytes = np.frombuffer(self._text, dtype=np.uint8)
        self._counts = np.bincount(self._bytes, minlength=256)
        lengths = np.fromiter((len(line) + 1 for line in encoded), np.int64, len(encoded))
        self._starts = np.cumsum(lengths) - lengths

    def __len__(self) -> int:
        return len(self._starts)

    def find(self, text: str) -> Marks:
        """For each line whether it contains the folded text.

        >>> lines = TextLines([fold_line(name) for name in ("Orders", "ORDER_LINES", "größe")])
        >>> lines.find("order").tolist(), lines.find("_").tolist()
        ([True, True, False], [False, True, False])
        """
        marks = np.zeros(len(self), dtype=np.bool_)
        places = self._find_places(text)
        if len(places) <= _FEW:
            marks[np.searchsorted(self._starts, places, side="right") - 1] = True
            return marks
        is_place = np.zeros(len(self._bytes), dtype=np.bool_)
        is_place[places] = True
        return np.logical_or.reduceat(is_place, self._starts)

    def find_beginning(self, text: str) -> Marks:
        """For each line whether it begins with the folded text."""
        marks = np.zeros(len(self), dtype=np.bool_)
        places = self._find_places(text)
        if len(places):
            lines = np.minimum(np.searchsorted(self._starts, places), len(self) - 1)
            marks[lines[self._starts[lines] == places]] = True
        return marks

    def _find_places(self, text: str) -> Places:
        """Where the text begins, in bytes."""
        wanted = text.encode("utf-8", "replace")
        if not wanted or b"\n" in wanted or not len(self):
            return np.zeros(0, dtype=np.int64)
        places: list[int] = []
        at = self._text.find(wanted)
        while at >= 0:
            places.append(at)
            if len(places) > _FEW:
                return self._find_many(wanted)
            at = self._text.find(wanted, at + 1)
        return np.array(places, dtype=np.int64)

    def _find_many(self, wanted: bytes) -> Places:
        # The rarest of its bytes first, which leaves the fewest places to look at.
        offsets = sorted(range(len(wanted)), key=lambda offset: self._counts[wanted[offset]])
        first = offsets[0]
        last = len(self._bytes) - len(wanted) + 1
        places = np.flatnonzero(self._bytes[first : first + last] == wanted[first])
        for offset in offsets[1:]:
            places = places[self._bytes[places + offset] == wanted[offset]]
        return places


def fold_line(text: str) -> str:
    """The text on one line, in lower case and without accents, for comparing.

    >>> fold_line("Größe  der Bestellung")
    'grosse der bestellung'
    """
    if not text.isascii():
        plain = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return " ".join(text.lower().split())
