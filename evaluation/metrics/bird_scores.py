"""The scores of the BIRD benchmark over two results, as its mini-dev repository computes them.

The sources are ``evaluation_ex.py`` and ``evaluation_f1.py`` in the folder ``evaluation`` of
bird-bench/mini_dev (Li and others, NeurIPS 2023; soft F1 came with mini-dev). They are reported in
addition to our own comparison, which is ``equivalence``.

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


def soft_f1(gold: Sequence[Row], rows: Sequence[Row]) -> float:
    """BIRD's soft F1, 0 to 1: the overlap of the cells of each row with the gold row of its number.

    Duplicate rows are dropped first, then row i is compared with row i: row order counts, the order
    of cells does not. Each row has weight 1, whatever its width.

    The example of BIRD's README, with NULL for its empty cells. Row 1 matches completely; of rows 2
    and 3 half matches, half is only in the answer, half only in the gold: TP = 2, FP = 1, FN = 1,
    so precision and recall are 2/3. (The README counts cells and leaves out empty ones, which gives
    0.8; BIRD's code does not.)

    >>> gold = [("Apple", 325), ("Orange", None), ("Banana", 119)]
    >>> rows = [(325, "Apple"), (191, "Orange"), (None, "Banana")]
    >>> round(soft_f1(gold, rows), 4)
    0.6667

    One row is missing: TP = 1, FN = 1, so precision is 1, recall 1/2.

    >>> round(soft_f1([(1,), (2,)], [(1,)]), 4)
    0.6667
    """
    if not gold and not rows:
        return 1.0
    # A dict keeps the order of first occurrences.
    wanted = list(dict.fromkeys(_hashable(row) for row in gold))
    given = list(dict.fromkeys(_hashable(row) for row in rows))
    matched = 0.0
    only_given = float(max(len(given) - len(wanted), 0))
    only_wanted = float(max(len(wanted) - len(given), 0))
    for wanted_row, given_row in zip(wanted, given, strict=False):
        # A gold row without columns: BIRD's script divides by zero and counts 0, as this does.
        width = len(wanted_row) or 1
        found = sum(value in wanted_row for value in given_row)
        matched += found / width
        only_given += (len(given_row) - found) / width
        only_wanted += sum(value not in given_row for value in wanted_row) / width
    if matched == 0:
        return 0.0
    precision = matched / (matched + only_given)
    recall = matched / (matched + only_wanted)
    return 2 * precision * recall / (precision + recall)


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
