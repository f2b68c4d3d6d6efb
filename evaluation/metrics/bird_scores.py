"""BIRD's execution accuracy over two results, as its mini-dev repository computes it.

The source is ``evaluation/evaluation_ex.py`` of bird-bench/mini_dev (Li and others, NeurIPS 2023).
It is reported in addition to our own comparison, which is ``equivalence``.

As in BIRD, cells are compared by Python's ``==`` on the driver's values: no rounding, a NaN equals
nothing, ``Decimal("2.5")`` equals ``2.5``, but ``Decimal("0.1")`` does not equal ``0.1``. Only
unhashable values (arrays, JSON, bytearray, memoryview) are normalised first; for those BIRD's own
script fails and counts the answer as wrong.

Knows nothing of databases, running queries or averaging over questions.
"""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.results.cell_values import normalize_value

Row = Sequence[object]


def is_bird_match(gold: Sequence[Row], rows: Sequence[Row]) -> bool:
    """BIRD's execution accuracy (EX): whether both give the same set of rows.

    Neither order nor duplicates of rows count; the order of columns does.

    >>> is_bird_match([(1, "a"), (2, "b")], [(2, "b"), (1, "a"), (1, "a")])
    True
    >>> is_bird_match([(1, "a")], [("a", 1)])
    False
    """
    return {_hashable(row) for row in gold} == {_hashable(row) for row in rows}


def _hashable(row: Row) -> tuple[object, ...]:
    cells = tuple(row)
    try:
        hash(cells)
    except (TypeError, ValueError):
        return tuple([_hashable_value(value) for value in cells])
    return cells


def _hashable_value(value: object) -> object:
    try:
        hash(value)
    except (TypeError, ValueError):  # a writable memoryview raises ValueError
        return normalize_value(value)
    return value
