"""Cell values as JSON."""

from __future__ import annotations

import copy
import datetime as dt
import json
import pickle
from decimal import Decimal
from uuid import UUID

import pytest

from nl2sql.results.equivalence import are_equivalent
from nl2sql.results.json_values import Interval, to_json_value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, None, id="null"),
        pytest.param(True, True, id="bool"),
        pytest.param(3, 3, id="int"),
        pytest.param("a", "a", id="text"),
        pytest.param(2.5, 2.5, id="float"),
        pytest.param(float("nan"), "NaN", id="nan"),
        pytest.param(float("-inf"), "-Infinity", id="infinity"),
        pytest.param(2**53 - 1, 9007199254740991, id="largest_safe_integer"),
        pytest.param(-(2**53) + 1, -9007199254740991, id="smallest_safe_integer"),
        pytest.param(2**53, "9007199254740992", id="unsafe_integer"),
        pytest.param(2**63 - 1, "9223372036854775807", id="bigint"),
        pytest.param(Decimal("12.50"), 12.5, id="decimal"),
        pytest.param(Decimal("123456789012345"), 123456789012345.0, id="fifteen_digits"),
        pytest.param(Decimal("1234567890123456"), 1234567890123456.0, id="sixteen_digits"),
        pytest.param(Decimal(2**53), "9007199254740992", id="decimal_past_doubles"),
        pytest.param(Decimal("0.1"), 0.1, id="tenth"),
        pytest.param(Decimal("0.12345678901234567"), "0.12345678901234567", id="long_fraction"),
        pytest.param(Decimal("1E+30"), "1" + 30 * "0", id="no_exponent"),
        pytest.param(Decimal("1E+5000"), "1E+5000", id="exponent_of_a_giant"),
        pytest.param(Decimal("-Infinity"), "-Infinity", id="decimal_infinity"),
        pytest.param(Decimal("NaN"), "NaN", id="decimal_nan"),
        pytest.param(dt.date(2025, 6, 30), "2025-06-30", id="date"),
        pytest.param(dt.datetime(2025, 6, 30, 8), "2025-06-30T08:00:00", id="timestamp"),
        pytest.param(dt.time(8, 30), "08:30:00", id="time"),
        pytest.param(dt.timedelta(hours=1), "PT1H", id="timedelta"),
        pytest.param(dt.timedelta(), "PT0S", id="no_time"),
        pytest.param(dt.timedelta(microseconds=-1), "PT-0.000001S", id="negative_fraction"),
        pytest.param(dt.timedelta(days=-2, hours=-3), "P-2DT-3H", id="negative_timedelta"),
        pytest.param(Interval(1, 0, 0), "P1M", id="month"),
        pytest.param(Interval(0, 30, 0), "P30D", id="thirty_days"),
        pytest.param(Interval(-14, 3, -3_661_500_000), "P-1Y-2M3DT-1H-1M-1.5S", id="signs"),
        pytest.param(b"\x00\xff", "00ff", id="bytes"),
        pytest.param(memoryview(b"a"), "61", id="memoryview"),
        pytest.param({"a": Decimal(1), 2: None}, {"a": 1.0, "2": None}, id="object"),
        pytest.param((1, [Decimal("0.5")]), [1, [0.5]], id="array"),
        pytest.param(UUID(int=1), "00000000-0000-0000-0000-000000000001", id="uuid"),
    ],
)
def test_a_value_becomes_json(value: object, expected: object) -> None:
    converted = to_json_value(value)
    assert converted == expected
    assert type(converted) is type(expected)
    json.dumps(converted, allow_nan=False)


@pytest.mark.parametrize(
    ("interval", "seconds"),
    [
        # What EXTRACT(EPOCH FROM …) gives on PostgreSQL 18.
        (Interval(12, 0, 0), 31_557_600.0),
        (Interval(1, 0, 0), 2_592_000.0),
        (Interval(14, 3, 500_000), 37_000_800.5),
        (Interval(-1, 0, 0), -2_592_000.0),
        (Interval(-13, 0, 0), -34_149_600.0),
    ],
)
def test_an_interval_is_as_long_as_its_epoch(interval: Interval, seconds: float) -> None:
    assert interval.total_seconds() == seconds
    assert are_equivalent([(interval,)], [(seconds,)])


def test_an_interval_keeps_its_parts_on_its_way_between_processes() -> None:
    interval = Interval(14, -3, 7)
    for other in (pickle.loads(pickle.dumps(interval)), copy.deepcopy(interval)):
        assert (type(other), other.parts, other.iso) == (Interval, (14, -3, 7), interval.iso)


def test_an_interval_past_pythons_range_is_an_error() -> None:
    with pytest.raises(OverflowError):
        Interval(12 * 178_000_000, 0, 0)
