"""BIRD's scores, by numbers worked out by hand from its own scripts; more are in the table."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evaluation.metrics.bird_scores import is_bird_match, soft_f1

Rows = Sequence[Sequence[object]]


@pytest.mark.parametrize(
    ("gold", "rows", "same"),
    [
        pytest.param([], [], True, id="both_empty"),
        pytest.param([], [(None,)], False, id="one_empty"),
        pytest.param([(1,), (2,)], [(2,), (1,)], True, id="row_order"),
        pytest.param([(1,), (1,)], [(1,)], True, id="duplicates"),
        pytest.param([(1, 2)], [(2, 1)], False, id="column_order"),
        pytest.param([(1,)], [(1.0,)], True, id="int_and_float"),
        pytest.param([(0.3,)], [(0.1 + 0.2,)], False, id="noise"),
        pytest.param([[1, "a"]], [(1, "a")], True, id="rows_as_lists"),
        pytest.param([({"a": 1, "b": 2},)], [({"b": 2, "a": 1},)], True, id="objects"),
        pytest.param([(memoryview(bytearray(b"a")),)], [(b"a",)], True, id="writable_memoryview"),
        pytest.param([(0.3, [1])], [(0.1 + 0.2, [1])], False, id="noise_beside_an_array"),
    ],
)
def test_ex_compares_sets_of_rows(gold: Rows, rows: Rows, same: bool) -> None:
    assert is_bird_match(gold, rows) is same


@pytest.mark.parametrize(
    ("gold", "rows", "expected"),
    [
        pytest.param([], [], 1, id="both_empty"),
        pytest.param([], [(1,)], 0, id="gold_empty"),
        pytest.param([(1,)], [], 0, id="answer_empty"),
        pytest.param([(1, 2)], [(2, 1)], 1, id="columns_swapped"),
        pytest.param([(1,), (2,)], [(2,), (1,)], 0, id="rows_swapped"),
        pytest.param([(1,), (1,), (2,)], [(1,), (2,), (2,)], 1, id="duplicates_dropped_first"),
        # TP 1/2, FP 1/2, FN 1/2
        pytest.param([(1, 2)], [(1, 3)], 1 / 2, id="half_a_row"),
        # TP 2/3, FN 1/3: precision 1, recall 2/3
        pytest.param([(1, 2, 3)], [(1, 2)], 4 / 5, id="a_column_too_few"),
        # TP 1, FP 1/2: precision 2/3, recall 1
        pytest.param([(1, 2)], [(1, 2, 3)], 4 / 5, id="a_column_too_many"),
        # Each 1 of the answer is in the gold's row, so both count: TP 1, FN 1/2
        pytest.param([(1, 2)], [(1, 1)], 4 / 5, id="one_value_twice"),
        # TP 2, FP 2: precision 1/2, recall 1
        pytest.param([(1,), (2,)], [(1,), (2,), (3,), (4,)], 2 / 3, id="two_rows_too_many"),
        # TP 1, FN 3: precision 1, recall 1/4
        pytest.param([(1,), (2,), (3,), (4,)], [(1,)], 2 / 5, id="three_rows_too_few"),
        # TP 1 + 1/2, FP 1/2 + 1, FN 1/2: precision 1/2, recall 3/4
        pytest.param([(1, 2), (3, 4)], [(2, 1), (3, 9), (5, 6)], 3 / 5, id="of_everything"),
        pytest.param([()], [()], 0, id="no_columns"),
        pytest.param([([1, 2],)], [([1, 2],)], 1, id="arrays"),
    ],
)
def test_soft_f1_weighs_cells_row_by_row(gold: Rows, rows: Rows, expected: float) -> None:
    assert soft_f1(gold, rows) == pytest.approx(expected)
