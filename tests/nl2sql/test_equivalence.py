"""Results that are the same and results that are not, each pair with its reason."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

import pytest

from nl2sql.equivalence import are_equivalent

Rows = Sequence[Sequence[object]]

UTC = dt.UTC
NAN = float("nan")

# reason → (left, right)
SAME: dict[str, tuple[Rows, Rows]] = {
    "two_empty_results": ([], []),
    "rows_in_another_order": ([(1,), (2,)], [(2,), (1,)]),
    "columns_swapped": ([(1, "a"), (2, "b")], [("a", 1), ("b", 2)]),
    "columns_rotated": ([(1, "a", None)], [(None, 1, "a")]),
    "columns_swapped_and_rows_in_another_order": ([(1, "a"), (2, "b")], [("b", 2), ("a", 1)]),
    "swap_that_only_the_pairing_tells": ([(1, 2), (2, 3)], [(2, 1), (3, 2)]),
    "columns_of_equal_values_need_the_right_match": (
        [(1, 2, 3), (2, 3, 1), (3, 1, 2)],
        [(3, 1, 2), (1, 2, 3), (2, 3, 1)],
    ),
    "identical_columns": ([(1, 1), (2, 2)], [(2, 2), (1, 1)]),
    "duplicates_as_often": ([(1,), (1,), (2,)], [(2,), (1,), (1,)]),
    "decimal_and_float": ([(Decimal("2.50"),)], [(2.5,)]),
    "decimal_and_int": ([(Decimal("3.00"),)], [(3,)]),
    "large_integer_and_the_equal_decimal": ([(2**53 + 1,)], [(Decimal(2**53 + 1),)]),
    "int_and_float": ([(3,)], [(3.0,)]),
    "float_noise_after_four_places": ([(0.1 + 0.2,)], [(0.3,)]),
    "rounded_to_the_same_four_places": ([(1.00004,)], [(1.00001,)]),
    "decimal_noise_after_four_places": ([(Decimal("0.333333"),)], [(1 / 3,)]),
    "negative_zero": ([(-0.0,)], [(0,)]),
    "not_a_number_is_itself": ([(NAN,)], [(float("nan"),)]),
    "infinity_is_itself": ([(float("inf"),)], [(Decimal("Infinity"),)]),
    "nulls": ([(None, 1)], [(1, None)]),
    "date_and_timestamp_at_midnight": ([(dt.date(2025, 6, 30),)], [(dt.datetime(2025, 6, 30),)]),
    "date_and_its_text": ([(dt.date(2025, 6, 30),)], [("2025-06-30",)]),
    "timestamps": ([(dt.datetime(2025, 6, 30, 8, 30),)], [("2025-06-30T08:30:00",)]),
    "interval_and_seconds": ([(dt.timedelta(minutes=1),)], [(60,)]),
    "array_and_json_list": ([((1, 2),)], [([1.0, 2],)]),
    "rows_as_lists_or_tuples": ([[1, "a"]], [(1, "a")]),
    "bytes": ([(b"a",)], [(b"a",)]),
    "json_objects": ([({"a": 1},)], [({"a": 1},)]),
}

DIFFERENT: dict[str, tuple[Rows, Rows]] = {
    "another_value": ([(1,)], [(2,)]),
    "more_rows": ([(1,)], [(1,), (1,)]),
    "empty_and_not": ([], [(None,)]),
    "duplicates_more_often": ([(1,), (1,), (2,)], [(1,), (2,), (2,)]),
    "a_column_more": ([(1, 2)], [(1,)]),
    "equal_columns_paired_otherwise": ([(1, "a"), (2, "b")], [(1, "b"), (2, "a")]),
    "equal_numbers_paired_otherwise": ([(1, 1), (2, 2)], [(1, 2), (2, 1)]),
    "identical_columns_and_different_ones": ([(1, 1), (2, 3)], [(1, 1), (3, 3)]),
    "null_and_zero": ([(None,)], [(0,)]),
    "null_and_empty_text": ([(None,)], [("",)]),
    "number_and_its_text": ([(1,)], [("1",)]),
    "text_in_other_case": ([("a",)], [("A",)]),
    "text_with_a_space": ([("a",)], [("a ",)]),
    "differs_in_the_fourth_place": ([(1.0001,)], [(1.0002,)]),
    "large_integers": ([(2**53,)], [(2**53 + 1,)]),
    "large_decimals": ([(Decimal(2**53),)], [(Decimal(2**53 + 1),)]),
    "integer_and_a_near_decimal": ([(2**53 + 1,)], [(Decimal(2**53),)]),
    "not_a_number_and_null": ([(NAN,)], [(None,)]),
    "timestamp_after_midnight": ([(dt.date(2025, 1, 1),)], [(dt.datetime(2025, 1, 1, 0, 0, 1),)]),
    "true_and_its_text": ([(True,)], [("true",)]),
    "another_time_zone": (
        [(dt.datetime(2025, 1, 1, 8, tzinfo=UTC),)],
        [(dt.datetime(2025, 1, 1, 8, tzinfo=dt.timezone(dt.timedelta(hours=2))),)],
    ),
}


@pytest.mark.parametrize(("left", "right"), SAME.values(), ids=SAME)
def test_results_are_the_same(left: Rows, right: Rows) -> None:
    assert are_equivalent(left, right)
    assert are_equivalent(right, left)


@pytest.mark.parametrize(("left", "right"), DIFFERENT.values(), ids=DIFFERENT)
def test_results_differ(left: Rows, right: Rows) -> None:
    assert not are_equivalent(left, right)
    assert not are_equivalent(right, left)


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        pytest.param([(1,), (2,)], [(1,), (2,)], True, id="same_order"),
        pytest.param([(1,), (2,)], [(2,), (1,)], False, id="another_order"),
        pytest.param([(1, "a"), (2, "b")], [("a", 1), ("b", 2)], True, id="columns_swapped"),
        pytest.param([(1, "a"), (2, "b")], [("b", 2), ("a", 1)], False, id="swapped_and_reordered"),
        pytest.param([(1, 1), (2, 2)], [(1, 2), (2, 1)], False, id="pairs_broken"),
        pytest.param([], [], True, id="empty"),
    ],
)
def test_the_order_of_rows_counts_when_it_is_asked_for(left: Rows, right: Rows, same: bool) -> None:
    assert are_equivalent(left, right, ordered=True) is same


def test_true_is_one_as_in_python() -> None:
    # The field's evaluators compare by ==; PostgreSQL itself never mixes the two in one column.
    assert are_equivalent([(True,)], [(1,)])


@pytest.mark.parametrize("width", [2, 12, 40])
def test_identical_columns_are_never_tried_against_each_other(width: int) -> None:
    left = [(row,) * width for row in range(20)]
    assert are_equivalent(left, list(reversed(left)))


def test_twelve_columns_of_equal_values_are_matched() -> None:
    left = [tuple((row * step) % 13 for step in range(1, 13)) for row in range(1, 13)]
    assert are_equivalent(left, [tuple(reversed(row)) for row in left])


def test_twelve_columns_of_equal_values_that_do_not_match_end_soon() -> None:
    left = [tuple((row * step) % 13 for step in range(1, 13)) for row in range(1, 13)]
    swapped = [list(row) for row in left]
    swapped[0][0], swapped[1][0] = swapped[1][0], swapped[0][0]
    assert not are_equivalent(left, swapped)
