"""Decides whether two results are equivalent, for the vote, the evaluation and the oracle tests.

The convention is that of test-suite-sql-eval (Zhong, Yu and Klein, EMNLP 2020, ``result_eq`` of
``exec_eval.py``): rows are a multiset, under any permutation of columns; row order counts if the
gold query orders its rows. Column names do not count. Cells are compared in the form that
``cell_values`` gives them, which also rounds; docs/reference/result-comparison.md compares both
with the original.

A result's ``profile`` does not change if rows or columns are permuted: its size, and the colours of
its columns, each a sum of hashes over the column's cells. Results with different profiles differ,
so many results are compared by reading each once. Columns are paired by colour; those that share
one are tried in all orders, at most ``_MOST_ORDERS`` and ``_MOST_CELLS`` read for it.

Colours only rule pairings out. Two results are equal if the multisets of whole rows are equal
under the pairing, by the sum of a keyed 128-bit hash over all rows (Clarke and others, Incremental
multiset hash functions, ASIACRYPT 2003). Rows are read repeatedly and never copied.

Knows nothing of SQL: the caller says whether order counts. Results with so many columns of equal
values that the attempts run out count as different.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import blake2b
from itertools import chain, islice, permutations
from operator import add

from nl2sql.results.cell_values import normalize_columns

Row = Sequence[object]
Hashes = list[int]

_MOST_ORDERS = 120
_MOST_CELLS = 20_000_000
_MOST_KNOWN = 1000
_HASH_BYTES = 16
# Without a key, rows could be crafted whose hashes add up to those of other rows.
_KEY = secrets.token_bytes(_HASH_BYTES)


def are_equivalent(left: Sequence[Row], right: Sequence[Row], *, ordered: bool = False) -> bool:
    """True if both hold the same rows under some permutation of columns.

    ``ordered`` compares the rows in their order. Two empty results are equal, whatever their
    columns. All rows of a result have the same length. Time is linear in the cells, times the
    orders that are tried if columns cannot be distinguished.

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
    if ordered:
        return Counter(_digest_columns(left)) == Counter(_digest_columns(right))
    return ComparedRows(left).is_equivalent_to(ComparedRows(right))


class ComparedRows:
    """The rows of a result, to be compared with several others.

    What a comparison needs of them is computed at most once. Neither rows nor columns have an order
    that counts.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self.width = len(rows[0]) if rows else 0

    def is_equivalent_to(self, other: ComparedRows) -> bool:
        """See ``are_equivalent``."""
        if _are_same(self._rows, other._rows):
            return True
        if self.profile != other.profile:
            return False
        if self._summary == other._summary:
            return True
        cells = max(1, len(self._rows) * self.width)
        orders = islice(other._list_orders(), 1, min(_MOST_ORDERS, _MOST_CELLS // cells))
        return any(other._summarize(order) == self._summary for order in orders)

    @cached_property
    def profile(self) -> tuple[int, int, tuple[int, ...]]:
        """Rows, columns and the columns' colours; equivalent results have equal profiles.

        Different ones may share a profile. It is valid in this process only.
        """
        return len(self._rows), self.width, tuple(sorted(self._colours))

    @cached_property
    def _colours(self) -> Hashes:
        colours = [0] * self.width
        for block in self._read_hashes():
            colours = list(map(add, colours, map(sum, block)))
        return colours

    @cached_property
    def _summary(self) -> int:
        return self._summarize(next(self._list_orders()))

    def _list_orders(self) -> Iterator[list[int]]:
        """The columns by colour, in all orders of those that share one."""
        tied: dict[int, list[int]] = {}
        for at in sorted(range(self.width), key=self._colours.__getitem__):
            tied.setdefault(self._colours[at], []).append(at)
        return map(list, map(chain.from_iterable, _list_products(list(tied.values()))))

    def _read_hashes(self) -> Iterator[list[Hashes]]:
        """Yields the hashes of the cells of some rows, by column.

        Equal values have equal hashes; different ones may collide, which colours tolerate.
        """
        known = _KnownHashes()
        for block in normalize_columns(self._rows):
            yield [list(map(known.__getitem__, column)) for column in block]
            if len(known) > _MOST_KNOWN:
                known.clear()

    def _summarize(self, order: Sequence[int]) -> int:
        """A number that two results share only if they hold the same rows, in these columns."""
        total = 0
        for block in normalize_columns(self._rows):
            for row in zip(*(block[at] for at in order), strict=True):
                total += _digest(row)
        return total


def _list_products(groups: Sequence[Sequence[int]]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """One permutation of each group, in all ways, without building them beforehand."""
    if not groups:
        yield ()
        return
    for first in permutations(groups[0]):
        for rest in _list_products(groups[1:]):
            yield (first, *rest)


def _are_same(left: Sequence[Row], right: Sequence[Row]) -> bool:
    """True if the rows are equal as they stand."""
    # One by one: a comparison of all at once would keep other threads waiting.
    return len(left) == len(right) and all(
        one == other for one, other in zip(left, right, strict=True)
    )


class _KnownHashes(dict[object, int]):
    """The hashes of cells: many cells have the same value."""

    def __missing__(self, value: object) -> int:
        # Text is hashed by SipHash (PEP 456). The hashes of numbers and tuples are almost linear:
        # those of 1 and 4 would have the same sum as those of 2 and 3.
        self[value] = hashed = hash(repr(value))
        return hashed


def _digest(row: Row) -> int:
    data = repr(row).encode()
    return int.from_bytes(blake2b(data, digest_size=_HASH_BYTES, key=_KEY).digest())


def _digest_columns(rows: Sequence[Row]) -> list[bytes]:
    """A digest of each column from top to bottom."""
    hashes = [blake2b(digest_size=_HASH_BYTES, key=_KEY) for _ in rows[0]]
    for block in normalize_columns(rows):
        for digest, column in zip(hashes, block, strict=True):
            # A repr contains no line break, so one separates the values.
            digest.update("".join(f"{value!r}\n" for value in column).encode())
    return [digest.digest() for digest in hashes]
