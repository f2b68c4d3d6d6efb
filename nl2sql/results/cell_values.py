"""Normalises cells for comparison, independent of the driver and the column type.

The rules, one for each kind of value (reasons: docs/reference/result-comparison.md):

    NULL          equal to NULL, to nothing else
    boolean       1 or 0: SQLite has no booleans
    whole number  exact, also as a numeric or a double
    other number  as a double of 13 significant digits, rounded to 4 decimals
    NaN, infinity equal to themselves
    text          as it is: never a number, no case folding, no trimming
    date, time    its ISO 8601 text
    timestamp     its text, as SQL writes it; in UTC where it has a zone; at midnight its date
    interval      its seconds, as a number
    UUID          its text
    bytes         as they are, bytearray and memoryview too
    array, object item by item, the keys of an object in any order

Knows nothing of databases. Does not cover text that spells a number and collations. Types without a
rule are compared by their ``repr``.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from operator import itemgetter
from types import NoneType
from typing import Any
from uuid import UUID

_DECIMALS = 4
_DIGITS = 13
# From here on, 13 digits have no decimals: numbers are only rounded to whole ones.
_WHOLE = 10.0**_DIGITS
# PostgreSQL's numeric has up to 131,072 digits; Python refuses to print integers of over 4,300.
_LONG = 10**4000
_NAN = ("number", "NaN")
_MIDNIGHT = " 00:00:00"
_JSON_TIMESTAMP = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?", re.ASCII
)


def normalize_value(value: object) -> object:
    """``value`` in a hashable form: None, int, float, str, bytes, or a tuple led by its kind.

    >>> normalize_value(Decimal("2.50")) == normalize_value(2.5)
    True
    >>> normalize_value(0.1 + 0.2), normalize_value(Decimal("3.000")), normalize_value(True)
    (0.3, 3, 1)
    >>> normalize_value(dt.datetime(2025, 6, 30)), normalize_value("2025-06-30T08:30:00+02:00")
    ('2025-06-30', '2025-06-30 06:30:00')
    """
    kind = type(value)
    return _RULES[kind if kind in _RULES else _find_kind(kind)](value)


def _find_kind(kind: type) -> type:
    """The nearest base class that has a rule: drivers may return subclasses."""
    return next((base for base in kind.__mro__ if base in _RULES), object)


def _normalize_integer(value: int) -> object:
    return value if -_LONG < value < _LONG else ("number", hex(value))


def _normalize_float(value: float) -> object:
    """Rounds twice, so that nearly equal values halfway between two decimals round alike.

    0.03125 lies exactly between 0.0312 and 0.0313, and a sum that should give it may be slightly
    above or below. Rounded to 13 digits first, all of these are 0.03125.
    """
    if value.is_integer():
        return _normalize_integer(int(value))
    if -_WHOLE < value < _WHOLE:
        rounded = round(float(f"{value:.{_DIGITS}g}"), _DECIMALS)
        return int(rounded) if rounded.is_integer() else rounded
    if math.isnan(value):
        return _NAN
    return float(value) if math.isinf(value) else round(value)


def _normalize_decimal(value: Decimal) -> object:
    if not value.is_finite():
        return _NAN if value.is_nan() else float(value)
    if value.adjusted() < _DIGITS:
        # Through the nearest double, so that the same number compares equal as either type.
        return _normalize_float(float(value))
    return _normalize_integer(round(value))


def _normalize_text(value: str) -> str:
    # The form of a timestamp in JSON, and so of values received over HTTP.
    if len(value) >= 19 and value[10] == "T" and _JSON_TIMESTAMP.fullmatch(value):
        try:
            return _normalize_timestamp(dt.datetime.fromisoformat(value))
        except ValueError:
            return value  # such as month 13 or hour 25
    return value


def _normalize_timestamp(value: dt.datetime) -> str:
    if value.tzinfo is not None:
        try:
            value = value.astimezone(dt.UTC).replace(tzinfo=None)
        except OverflowError:
            return value.isoformat(" ")  # in UTC the year would be 0 or 10000
    return value.isoformat(" ").removesuffix(_MIDNIGHT)


def _normalize_array(value: Iterable[object]) -> object:
    return ("array", *map(normalize_value, value))


def _normalize_object(value: Mapping[object, object]) -> object:
    items = [(str(key), normalize_value(item)) for key, item in value.items()]
    return ("object", *sorted(items, key=itemgetter(0)))


# Looked up by the exact type: on a million rows, a chain of isinstance would dominate the time.
_RULES: dict[type, Callable[[Any], object]] = {
    NoneType: lambda value: value,
    bool: int,
    int: _normalize_integer,
    float: _normalize_float,
    Decimal: _normalize_decimal,
    str: _normalize_text,
    dt.datetime: _normalize_timestamp,
    dt.date: dt.date.isoformat,
    dt.time: dt.time.isoformat,
    dt.timedelta: lambda value: _normalize_float(value.total_seconds()),
    UUID: str,
    bytes: bytes,
    bytearray: bytes,
    memoryview: bytes,
    list: _normalize_array,
    tuple: _normalize_array,
    dict: _normalize_object,
    object: lambda value: ("other", repr(value)),
}
