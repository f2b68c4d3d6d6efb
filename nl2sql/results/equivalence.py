"""Decides whether two results are equivalent, for the vote, the evaluation and the oracle tests.

The convention is that of test-suite-sql-eval (Zhong, Yu and Klein, EMNLP 2020, ``result_eq`` of
``exec_eval.py``): rows are a multiset, under any permutation of columns; row order counts if the
gold query orders its rows. Column names do not count. Cells are compared in the form that
``cell_values`` gives them, which also rounds; docs/reference/result-comparison.md compares both
with the original.

The original tries permutations, factorially many (its issue 12). Here columns are distinguished by
colour refinement (Weisfeiler and Leman 1968): a row's colour depends on its cells and the colours
of their columns, a column's on its cells and the colours of their rows, until a round
distinguishes no more columns. Columns that are still tied are paired in their order; if that
fails, one is singled out and paired with each of its counterparts (individualisation-refinement,
McKay and Piperno, Practical graph isomorphism II, 2014), at most ``_MOST_ATTEMPTS`` times and at
most columns squared.

Colours only rule pairings out. Two results are equal if the multisets of whole rows are equal
under the pairing: counted exactly in small results; in large ones, which are read repeatedly but
never copied, compared by the sum of a keyed 128-bit hash over all rows (Clarke and others,
Incremental multiset hash functions, ASIACRYPT 2003).

Knows nothing of SQL: the caller says whether order counts. A pair of results so regular that the
attempts run out counts as different.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import repeat
from operator import add, mul
from typing import Protocol

from nl2sql.results.cell_values import normalize_value

Row = Sequence[object]
Cells = tuple[object, ...]
Hashes = list[int]

# Up to this size both results are normalised once and kept, some 60 MB; larger ones are not kept.
_SMALL_CELLS = 200_000
_MOST_ATTEMPTS = 256
_HASH_BYTES = 16
# Without a key, rows could be crafted whose hashes add up to those of other rows.
_KEY = secrets.token_bytes(_HASH_BYTES)


def are_equivalent(left: Sequence[Row], right: Sequence[Row], *, ordered: bool = False) -> bool:
    """True if both hold the same rows under some permutation of columns.

    ``ordered`` compares the rows in their order. Two empty results are equal, whatever their
    columns. All rows of a result have the same length. Time is linear in the cells, times a
    polynomial of the columns if columns cannot be distinguished.

    >>> are_equivalent([(1, "a"), (2, "b")], [("b", 2), ("a", 1)])
    True
    >>> are_equivalent([(1, "a"), (2, "b")], [("b", 1), ("a", 2)])
    False
    >>> are_equivalent([(1,), (2,)], [(2,), (1,)], ordered=True)
    False
    """
    if len(left) != len(right):
        return False
    if not left:
        return True
    if len(left[0]) != len(right[0]):
        return False
    if left == right:
        return True
    if len(left) * len(left[0]) <= _SMALL_CELLS:
        kept = list(_normalize_rows(left)), list(_normalize_rows(right))
        if ordered:
            return Counter(zip(*kept[0], strict=True)) == Counter(zip(*kept[1], strict=True))
        counts = Counter(kept[0]), Counter(kept[1])
        return counts[0] == counts[1] or _match_columns(*map(_SmallTable, counts))
    if ordered:
        return Counter(_digest_columns(left)) == Counter(_digest_columns(right))
    return _match_columns(_LargeTable(left), _LargeTable(right))


class _Table(Protocol):
    """A result in which neither rows nor columns have an order that counts."""

    @property
    def width(self) -> int: ...

    def read_hashes(self) -> Iterator[tuple[Hashes, int]]:
        """Yields the cell hashes of each row, with the number of times that the row occurs.

        Equal values have equal hashes; different ones may collide, which colours tolerate.
        """

    def summarize(self, order: Sequence[int]) -> object:
        """A value that two tables share only if they hold the same rows, columns in ``order``."""


class _SmallTable:
    """A table whose distinct normalised rows are kept."""

    def __init__(self, counts: Mapping[Cells, int]) -> None:
        self._counts = counts
        self._hashes = [(_hash_cells(row), count) for row, count in counts.items()]
        self.width = len(self._hashes[0][0])

    def read_hashes(self) -> Iterator[tuple[Hashes, int]]:
        return iter(self._hashes)

    def summarize(self, order: Sequence[int]) -> object:
        return {tuple([row[at] for at in order]): count for row, count in self._counts.items()}


class _LargeTable:
    """A table that is normalised again at each reading."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self.width = len(rows[0])

    def read_hashes(self) -> Iterator[tuple[Hashes, int]]:
        return ((_hash_cells(row), 1) for row in _normalize_rows(self._rows))

    def summarize(self, order: Sequence[int]) -> object:
        rows = _normalize_rows(self._rows)
        return sum(_digest(tuple([row[at] for at in order])) for row in rows)


def _normalize_rows(rows: Iterable[Row]) -> Iterator[Cells]:
    return (tuple(map(normalize_value, row)) for row in rows)


def _hash_cells(row: Cells) -> Hashes:
    # Text is hashed by SipHash (PEP 456). The hashes of numbers and tuples are almost linear: those
    # of 1 and 4 would have the same sum as those of 2 and 3.
    return list(map(hash, map(repr, row)))


def _digest(row: Cells) -> int:
    data = repr(row).encode()
    return int.from_bytes(blake2b(data, digest_size=_HASH_BYTES, key=_KEY).digest())


def _digest_columns(rows: Sequence[Row]) -> list[bytes]:
    """A digest of each column from top to bottom."""
    hashes = [blake2b(digest_size=_HASH_BYTES, key=_KEY) for _ in rows[0]]
    for row in _normalize_rows(rows):
        for column, value in zip(hashes, row, strict=True):
            # A repr contains no line break, so one separates the values.
            column.update(f"{value!r}\n".encode())
    return [column.digest() for column in hashes]


def _match_columns(left: _Table, right: _Table) -> bool:
    colourless = [1] * left.width
    attempts = iter(range(min(left.width**2, _MOST_ATTEMPTS)))
    return _pair_columns(
        left, right, _refine(left, colourless), _refine(right, colourless), attempts
    )


def _pair_columns(
    left: _Table,
    right: _Table,
    left_colours: Hashes,
    right_colours: Hashes,
    attempts: Iterator[int],
) -> bool:
    """True when pairing columns of equal colours, in some way, makes the rows equal."""
    if sorted(left_colours) != sorted(right_colours):
        return False
    order = _sort_columns(left_colours)
    if left.summarize(order) == right.summarize(_sort_columns(right_colours)):
        return True
    tied = [(count, colour) for colour, count in Counter(left_colours).items() if count > 1]
    if not tied:
        return False
    _, colour = min(tied)
    left_finer = _refine(left, _single_out(left_colours, left_colours.index(colour)))
    for at, other in enumerate(right_colours):
        if other != colour:
            continue
        if next(attempts, None) is None:
            return False
        right_finer = _refine(right, _single_out(right_colours, at))
        if _pair_columns(left, right, left_finer, right_finer, attempts):
            return True
    return False


def _refine(table: _Table, colours: Hashes) -> Hashes:
    """The colours after at least one round, until no further columns are distinguished."""
    while True:
        finer = _refine_once(table, colours)
        before, after = len(set(colours)), len(set(finer))
        if after in (before, table.width):
            return finer
        colours = finer


def _refine_once(table: _Table, colours: Hashes) -> Hashes:
    """One round. The sums do not depend on the order of rows and columns."""
    totals = [0] * table.width
    for row, count in table.read_hashes():
        row_colour = _hash_pair(sum(map(mul, colours, row)), count)
        totals = list(map(add, totals, map(mul, repeat(row_colour), row)))
    return list(map(_hash_pair, colours, totals))


def _single_out(colours: Hashes, at: int) -> Hashes:
    return [*colours[:at], _hash_pair(colours[at], 1), *colours[at + 1 :]]


def _hash_pair(left: int, right: int) -> int:
    return hash(f"{left} {right}")


def _sort_columns(colours: Hashes) -> list[int]:
    """Columns by colour, so that the n-th of one result pairs with the n-th of the other."""
    return sorted(range(len(colours)), key=colours.__getitem__)
