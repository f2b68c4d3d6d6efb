"""Decides whether two results are equivalent, for the vote, the evaluation and the oracle tests.

The convention is that of test-suite-sql-eval (Zhong, Yu and Klein, EMNLP 2020, ``result_eq`` of
``exec_eval.py``): rows are a multiset, under any permutation of columns; row order counts if the
gold query orders its rows. Column names do not count. Cells are compared in the form that
``cell_values`` gives them, which also rounds; docs/reference/result-comparison.md compares both
with the original.

A result's ``profile`` does not change if rows or columns are permuted: its size, and for each
column a hash of the multiset of its cells. Results with different profiles differ, so many results
are compared by reading each once. Columns are paired by their hashes; those that share one are
tried in all orders, at most ``_MOST_ORDERS`` of them. Hashes only rule pairings out: equal results
have equal multisets of rows.

Knows nothing of SQL: the caller says whether order counts. Results with so many columns of equal
values that the attempts run out count as different.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, groupby, islice, permutations, product

from nl2sql.results.cell_values import normalize_value

Row = Sequence[object]

_MOST_ORDERS = 120


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
    if ordered:
        return Counter(_normalize_columns(left)) == Counter(_normalize_columns(right))
    return ComparedRows(left).is_equivalent_to(ComparedRows(right))


class ComparedRows:
    """The rows of a result, to be compared with several others.

    What a comparison needs of them is computed at most once. Neither rows nor columns have an order
    that counts.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._size = len(rows)
        # Each column once: an attempt zips them in another order.
        self._columns = _normalize_columns(rows)

    def is_equivalent_to(self, other: ComparedRows) -> bool:
        """See ``are_equivalent``."""
        return self.profile == other.profile and any(
            self._counted == other._count(order)
            for order in islice(other._list_orders(), _MOST_ORDERS)
        )

    @cached_property
    def profile(self) -> tuple[int, int, tuple[int, ...]]:
        """Rows, columns and the columns' hashes; equivalent results have equal profiles.

        Different ones may share a profile. It is valid in this process only.
        """
        return self._size, len(self._hashes), tuple(sorted(self._hashes))

    @cached_property
    def _hashes(self) -> list[int]:
        return [hash(frozenset(Counter(column).items())) for column in self._columns]

    @cached_property
    def _counted(self) -> Counter[Row]:
        return self._count(next(self._list_orders()))

    def _list_orders(self) -> Iterator[tuple[int, ...]]:
        """The columns by hash, in all orders of those that share one."""
        by_hash = sorted(range(len(self._hashes)), key=self._hashes.__getitem__)
        tied = [
            islice(permutations(columns), _MOST_ORDERS)
            for _, columns in groupby(by_hash, self._hashes.__getitem__)
        ]
        return (tuple(chain.from_iterable(order)) for order in product(*tied))

    def _count(self, order: Sequence[int]) -> Counter[Row]:
        """The rows with their columns in that order, and how often each occurs."""
        return Counter(zip(*map(self._columns.__getitem__, order), strict=True))


def _normalize_columns(rows: Sequence[Row]) -> list[tuple[object, ...]]:
    return [tuple(map(normalize_value, column)) for column in zip(*rows, strict=True)]
