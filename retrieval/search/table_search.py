"""Searches the tables of one visible catalog for people: by parts of names and comments.

All words of the search must occur: in the table's name, a column's name, a comment or a gloss.
Tables whose names match come before those whose columns or comments do. Built once for a catalog,
in about 2 s for 100,000 tables; then a search takes milliseconds (docs/measurements.md).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nl2sql.catalog import Table
from nl2sql.cursors import read_cursor, refuse_cursor, write_cursor
from nl2sql.words import fold_plural
from retrieval.search.text_lines import Marks, TextLines, fold_line

# Further words of a search are ignored.
_MOST_WORDS = 6

# The ranks of tables: the searched name itself, names that begin with it, names, other texts.
_EXACT, _BEGINNING, _NAMED, _MENTIONED, _NOT_FOUND = range(5)


@dataclass(frozen=True, slots=True)
class FoundTables:
    """Positions in the catalog; ``next`` is the cursor of the next page, empty at the end."""

    positions: tuple[int, ...]
    next: str
    total: int


class TableSearch:
    """The tables of one visible catalog."""

    def __init__(self, tables: Sequence[Table], glosses: Sequence[str]) -> None:
        """``glosses`` has a text for each table."""
        order = sorted(range(len(tables)), key=lambda at: tables[at].qualified)
        self._positions = order
        self._names = [tables[at].qualified for at in order]
        self._qualified = TextLines([fold_line(name) for name in self._names])
        self._short = TextLines([fold_line(tables[at].name) for at in order])
        self._texts = TextLines([fold_line(f"{tables[at].comment} {glosses[at]}") for at in order])
        self._columns = _ColumnTexts([tables[at] for at in order])
        self._exact: dict[str, list[int]] = {}
        for number, at in enumerate(order):
            for name in {fold_line(tables[at].name), fold_line(tables[at].qualified)}:
                self._exact.setdefault(name, []).append(number)

    def find(self, search: str, after: str, most: int) -> FoundTables:
        """At most ``most`` tables after the cursor, best first, then by name.

        An empty search finds all. Raises InvalidRequest for a cursor of another origin.
        """
        ranks = self._rank(search)
        start_rank, start = self._read_cursor(after)
        chosen: list[tuple[int, int]] = []
        for rank in range(start_rank, _NOT_FOUND):
            found = np.flatnonzero(ranks == rank)
            if rank == start_rank:
                found = found[found >= start]
            chosen += [(rank, int(number)) for number in found[: most + 1 - len(chosen)]]
            if len(chosen) > most:
                break
        has_more = len(chosen) > most
        chosen = chosen[:most]
        last_rank, last = chosen[-1] if chosen else (0, 0)
        return FoundTables(
            tuple(self._positions[number] for _, number in chosen),
            write_cursor(str(last_rank), self._names[last]) if has_more and chosen else "",
            int(np.count_nonzero(ranks != _NOT_FOUND)),
        )

    def _read_cursor(self, after: str) -> tuple[int, int]:
        """The rank and the first number of the page."""
        if not after:
            return 0, 0
        rank, name = read_cursor(after, 2)
        if rank not in ("0", "1", "2", "3"):
            raise refuse_cursor()
        # By name and not by number, because tables may have come or gone since.
        return int(rank), bisect_right(self._names, name)

    def _rank(self, search: str) -> NDArray[np.int8]:
        """The rank of each table, in the order of their names."""
        size = len(self._names)
        whole = fold_line(search)
        words = whole.split()[:_MOST_WORDS]
        ranks = np.full(size, _NAMED if not words else _NOT_FOUND, dtype=np.int8)
        if not words or not size:
            return ranks
        # "orders" finds order_lines too.
        parts = dict.fromkeys(map(fold_plural, words))
        named = np.ones(size, dtype=np.bool_)
        mentioned = named
        for part in parts:
            in_name = self._qualified.find(part)
            named = named & in_name
            found = in_name | self._texts.find(part)
            missing = np.flatnonzero(mentioned & ~found)
            if len(missing):
                found[missing] = self._columns.find(part, missing)
            mentioned = mentioned & found
        ranks[mentioned] = _MENTIONED
        ranks[named] = _NAMED
        ranks[named & self._short.find_beginning(next(iter(parts)))] = _BEGINNING
        for spelling in {whole, whole.replace(" ", "_")}:
            ranks[self._exact.get(spelling, [])] = _EXACT
        return ranks


class _ColumnTexts:
    """The names and comments of all columns, each text once, with the tables that have it."""

    def __init__(self, tables: Sequence[Table]) -> None:
        numbers: dict[str, int] = {}
        texts: list[int] = []
        owners: list[int] = []
        folded: dict[str, str] = {}
        for owner, table in enumerate(tables):
            for text in {
                text for column in table.columns for text in (column.name, column.comment)
            }:
                if not text:
                    continue
                line = folded.get(text)
                if line is None:
                    line = folded[text] = fold_line(text)
                texts.append(numbers.setdefault(line, len(numbers)))
                owners.append(owner)
        self._lines = TextLines(list(numbers))
        self._texts = np.array(texts, dtype=np.int32)
        self._owners = np.array(owners, dtype=np.int32)
        self._ends = np.searchsorted(self._owners, np.arange(len(tables)), side="right")

    def find(self, part: str, among: NDArray[np.int64]) -> Marks:
        """Whether each of these tables has a column whose name or comment contains the text."""
        is_found = self._lines.find(part)
        if not is_found.any():
            return np.zeros(len(among), dtype=np.bool_)
        if len(among) * 4 > len(self._ends):
            hits = np.zeros(len(self._ends), dtype=np.bool_)
            hits[self._owners[is_found[self._texts]]] = True
            return hits[among]
        # Only the texts of these tables: the ranges between their ends, one after another.
        ends = self._ends[among]
        lengths = ends - np.where(among > 0, self._ends[among - 1], 0)
        after = np.cumsum(lengths)
        places = np.arange(after[-1]) + np.repeat(ends - after, lengths)
        counts = np.concatenate(([0], np.cumsum(is_found[self._texts[places]])))
        return np.asarray(counts[after] > counts[after - lengths])
