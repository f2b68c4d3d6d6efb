"""The collector of rows: limits on rows, bytes and cells, and how they are told."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest

from execution.results.collector import ResultBuilder, share_cell_bytes
from nl2sql.settings import LimitSettings
from nl2sql.types import ResultSet

LIMITS = LimitSettings(cell_bytes=1024, result_bytes=2**20)


def collect(*rows: tuple[object, ...], most_rows: int = 10, **options: object) -> ResultSet:
    columns = [f"c{at}" for at in range(len(rows[0]))]
    builder = ResultBuilder(columns, most_rows, LIMITS, **options)  # type: ignore[arg-type]
    for row in rows:
        if not builder.add(row):
            break
    return builder.build(["text"] * len(columns), 1.5)


def test_what_fits_is_passed_on_as_it_is() -> None:
    rows = ((1, "a" * 1024, b"b" * 1024, None), (2.5, "", b"", dt.date(2025, 6, 30)))
    result = collect(*rows)
    assert (result.rows, result.truncated, result.cut, result.ms) == (rows, False, (), 1.5)
    assert (result.columns, result.types) == (("c0", "c1", "c2", "c3"), ("text",) * 4)


def test_the_row_after_the_last_is_left_out_and_told() -> None:
    assert collect((1,), (2,), most_rows=2).truncated is False
    result = collect((1,), (2,), (3,), most_rows=2)
    assert (result.rows, result.truncated) == (((1,), (2,)), True)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param("a" * 1025, "a" * 1024, id="text"),
        pytest.param("é" * 513, "é" * 512, id="letters_of_two_bytes"),
        pytest.param("a" + "é" * 512, "a" + "é" * 511, id="no_half_letters"),
        pytest.param("😀" * 300, "😀" * 256, id="letters_of_four_bytes"),
        pytest.param(b"\x00" * 2000, b"\x00" * 1024, id="bytes"),
        pytest.param(bytearray(b"x" * 2000), b"x" * 1024, id="bytearray"),
        pytest.param(["a" * 600, "b" * 600], None, id="list"),
        pytest.param({"key": ["a" * 2000]}, None, id="object"),
    ],
)
def test_a_long_cell_ends_early_or_is_withheld_and_is_told(value: object, expected: object) -> None:
    result = collect(("short", 1), (value, 2))
    assert result.rows == (("short", 1), (expected, 2))
    assert (result.cut, result.truncated) == (((1, 0),), False)


def test_text_of_other_types_is_read_unless_it_is_too_long() -> None:
    result = collect(("1.5", "x"), ("9" * 2000, "y"), readers={0: Decimal})
    assert result.rows == ((Decimal("1.5"), "x"), (None, "y"))
    assert result.cut == ((1, 0),)


def test_rows_past_the_bytes_of_a_result_are_left_out() -> None:
    rows = [(number, "é" * 500) for number in range(2000)]
    result = collect(*rows, most_rows=2000)
    # A row counts 8 bytes for the number and 1000 for the text.
    assert len(result.rows) == 2**20 // 1008
    assert (result.truncated, result.cut) == (True, ())


def test_a_cut_cell_of_a_row_that_is_left_out_is_not_told() -> None:
    row = ("a" * 5000,) * 600
    result = collect(row, row)
    assert (len(result.rows), result.truncated) == (1, True)
    assert len(result.cut) == 600


@pytest.mark.parametrize(("columns", "expected"), [(0, 1024), (1, 1024), (1600, 655)])
def test_one_row_always_fits_into_a_result(columns: int, expected: int) -> None:
    assert share_cell_bytes(LIMITS, columns) == expected
    if columns:
        assert len(collect(("a" * 3000,) * columns).rows) == 1
