"""The normal form of each kind of value; which pairs are equal is in tests/fixtures."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from ipaddress import IPv4Address
from typing import NamedTuple
from uuid import UUID

import pytest
from hypothesis import given, settings, strategies as st

from nl2sql.results.cell_values import normalize_value


class Place(NamedTuple):
    """A subclass of a type that has a rule, as drivers give for a composite type."""

    x: int
    y: float


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, None, id="null"),
        pytest.param(True, 1, id="bool"),
        pytest.param(2**63, 2**63, id="int"),
        pytest.param(3.0, 3, id="whole_float"),
        pytest.param(-0.0, 0, id="negative_zero"),
        pytest.param(2.34567, 2.3457, id="float"),
        pytest.param(0.99999, 1, id="float_rounded_to_a_whole_number"),
        pytest.param(-0.00001, 0, id="float_rounded_to_zero"),
        pytest.param(1234567890.12345, 1234567890.123, id="float_of_thirteen_digits"),
        pytest.param(98765432109876.6, 98765432109877, id="float_past_thirteen_digits"),
        pytest.param(1e300, int(1e300), id="large_float"),
        pytest.param(math.inf, math.inf, id="infinity"),
        pytest.param(-math.inf, -math.inf, id="negative_infinity"),
        pytest.param(math.nan, ("number", "NaN"), id="nan"),
        pytest.param(Decimal("NaN"), ("number", "NaN"), id="decimal_nan"),
        pytest.param(Decimal("sNaN"), ("number", "NaN"), id="decimal_signalling_nan"),
        pytest.param(Decimal("-Infinity"), -math.inf, id="decimal_infinity"),
        pytest.param(Decimal("2.50"), 2.5, id="decimal"),
        pytest.param(Decimal("1E+2"), 100, id="decimal_with_exponent"),
        pytest.param(Decimal("0E+20"), 0, id="decimal_zero"),
        pytest.param(Decimal("9" * 30 + ".4"), int("9" * 30), id="decimal_past_its_precision"),
        pytest.param(Decimal(10**5000), ("number", hex(10**5000)), id="decimal_of_5000_digits"),
        pytest.param(10**5000, ("number", hex(10**5000)), id="int_of_5000_digits"),
        pytest.param("1", "1", id="text"),
        pytest.param("2025-06-30T08:30:00", "2025-06-30 08:30:00", id="json_timestamp"),
        pytest.param("2025-06-30T00:00:00Z", "2025-06-30", id="json_timestamp_of_utc"),
        pytest.param("2025-13-30T00:00:00", "2025-13-30T00:00:00", id="month_13"),
        pytest.param("2025-06-30T08:30:00 or so", "2025-06-30T08:30:00 or so", id="more_text"),
        pytest.param(dt.date(2025, 6, 30), "2025-06-30", id="date"),
        pytest.param(dt.datetime(2025, 6, 30), "2025-06-30", id="midnight"),
        pytest.param(
            dt.datetime(2025, 6, 30, 1, 2, 3, 450000), "2025-06-30 01:02:03.450000", id="timestamp"
        ),
        pytest.param(
            dt.datetime(2025, 6, 30, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            "2025-06-29 23:00:00",
            id="timestamp_with_zone",
        ),
        pytest.param(
            dt.datetime(1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))),
            "0001-01-01 00:00:00+02:00",
            id="timestamp_before_the_first_year_of_utc",
        ),
        pytest.param(dt.time(8, 30), "08:30:00", id="time"),
        pytest.param(dt.timedelta(minutes=1, milliseconds=500), 60.5, id="interval"),
        pytest.param(UUID(int=1), "00000000-0000-0000-0000-000000000001", id="uuid"),
        pytest.param(b"a", b"a", id="bytes"),
        pytest.param(bytearray(b"a"), b"a", id="bytearray"),
        pytest.param(memoryview(b"a"), b"a", id="memoryview"),
        pytest.param([1, [True]], ("array", 1, ("array", 1)), id="array"),
        pytest.param(Place(1, 2.0), ("array", 1, 2), id="composite"),
        pytest.param({"b": [], "a": 1.0}, ("object", ("a", 1), ("b", ("array",))), id="object"),
        pytest.param(
            IPv4Address("10.0.0.1"), ("other", "IPv4Address('10.0.0.1')"), id="type_without_a_rule"
        ),
    ],
)
def test_a_value_has_this_form(value: object, expected: object) -> None:
    form = normalize_value(value)
    assert form == expected
    assert type(form) is type(expected)
    hash(form)


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15))
def test_a_decimal_is_equal_to_its_double(value: Decimal) -> None:
    # From 10^13 on, a numeric keeps digits that its double has lost.
    if abs(value) < 10**13:
        assert normalize_value(value) == normalize_value(float(value))


@settings(deadline=None)
@given(st.integers(-(10**9), 10**9), st.integers(0, 4))
def test_noise_of_double_arithmetic_does_not_count(digits: int, places: int) -> None:
    # One place more than is kept, so that half of the values lie on an edge of the rounding.
    value = digits / 10 ** (places + 1)
    above = math.nextafter(value, math.inf)
    assert normalize_value(above) == normalize_value(value)
    assert normalize_value(math.nextafter(above, math.inf)) == normalize_value(value)
