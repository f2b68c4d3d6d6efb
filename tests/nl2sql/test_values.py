"""Cell values as JSON."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from uuid import UUID

import pytest

from nl2sql.values import to_json_value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(None, None, id="null"),
        pytest.param(True, True, id="bool"),
        pytest.param(3, 3, id="int"),
        pytest.param("a", "a", id="text"),
        pytest.param(2.5, 2.5, id="float"),
        pytest.param(float("nan"), "nan", id="nan"),
        pytest.param(float("-inf"), "-inf", id="infinity"),
        pytest.param(Decimal("12.50"), 12.5, id="decimal"),
        pytest.param(Decimal("123456789012345"), 123456789012345.0, id="fifteen_digits"),
        pytest.param(Decimal("1234567890123456"), "1234567890123456", id="sixteen_digits"),
        pytest.param(Decimal("NaN"), "NaN", id="decimal_nan"),
        pytest.param(dt.date(2025, 6, 30), "2025-06-30", id="date"),
        pytest.param(dt.datetime(2025, 6, 30, 8), "2025-06-30T08:00:00", id="timestamp"),
        pytest.param(dt.time(8, 30), "08:30:00", id="time"),
        pytest.param(dt.timedelta(hours=1), 3600.0, id="interval"),
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
