"""Converts cell values to JSON, and defines intervals with months, for which Python has no type.

Browsers and most other readers read a JSON number as a double, so only values that a double holds
exactly are numbers. An integer from 2^53 on is text, and so is a ``numeric`` that a double would
round. NaN and the infinities are text, in PostgreSQL's spelling. Dates and times are ISO 8601,
intervals its durations, bytes hexadecimal. Values that Python's types cannot hold (the date
``infinity``, the year 44 BC) arrive as the database's text and remain text.

Knows nothing of columns. Does not preserve a ``numeric``'s trailing zeros, and does not distinguish
a jsonb ``null`` from an SQL NULL. docs/reference/result-values.md has the table.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

# From here on not every whole number is a double (JavaScript's Number.MAX_SAFE_INTEGER + 1).
_DOUBLE_ENDS = 2**53
_MICROSECONDS_A_DAY = 86_400_000_000
# As PostgreSQL (in the style `postgres`) and DuckDB write it: every part except the time names its
# unit, and every part has a sign.
_INTERVAL = re.compile(
    r"(?:([-+]?\d+) years? ?)?(?:([-+]?\d+) mon(?:th)?s? ?)?(?:([-+]?\d+) days? ?)?"
    r"(?:([-+]?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?)?"
)


# What stands for bytes that are not text in the database's encoding.
_UNREADABLE = "\ufffd"


class Interval(dt.timedelta):
    """Months, days and microseconds as separate parts, as in PostgreSQL.

    As a ``timedelta`` it has the length of ``EXTRACT(EPOCH FROM …)``: a year is 365.25 days, a
    month 30. Raises OverflowError above 999,999,999 days.

    >>> Interval(14, 3, 7_500_000).iso
    'P1Y2M3DT7.5S'
    >>> Interval(12, 0, 0).total_seconds()
    31557600.0
    """

    parts: tuple[int, int, int]

    def __new__(cls, months: int, days: int, microseconds: int) -> Interval:
        years, rest = _divide(months, 12)
        span = super().__new__(
            cls, days=years * 365 + rest * 30 + days, hours=years * 6, microseconds=microseconds
        )
        span.parts = (months, days, microseconds)
        return span

    def __reduce__(self) -> tuple[type[Interval], tuple[int, int, int]]:
        return (Interval, self.parts)

    @property
    def iso(self) -> str:
        """The ISO 8601 duration, with a sign on each negative part."""
        return _render_duration(*self.parts)


def read_interval(text: str) -> Interval | str:
    """Reads a database's text of an interval; infinity and what is out of range stays text.

    >>> read_interval("1 year 2 months 3 days -01:00:00.5").parts
    (14, 3, -3600500000)
    """
    found = _INTERVAL.fullmatch(text)
    if found is None:
        return text
    years, months, days, sign, hours, minutes, seconds, fraction = found.groups(default="0")
    span = (int(hours) * 60 + int(minutes)) * 60 + int(seconds)
    microseconds = span * 1_000_000 + int(fraction.ljust(6, "0"))
    try:
        return Interval(
            int(years) * 12 + int(months),
            int(days),
            -microseconds if sign == "-" else microseconds,
        )
    except OverflowError:
        return text


def to_json_value(value: object) -> Any:
    """``value`` in a form that ``json.dumps`` accepts.

    >>> to_json_value(Decimal("12.50")), to_json_value(Decimal("0.12345678901234567"))
    (12.5, '0.12345678901234567')
    >>> to_json_value(2**53 - 1), to_json_value(2**53), to_json_value(dt.date(2025, 6, 30))
    (9007199254740991, '9007199254740992', '2025-06-30')
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return value if -_DOUBLE_ENDS < value < _DOUBLE_ENDS else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else _spell_special(value)
    if isinstance(value, Decimal):
        return _to_json_number(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return render_interval(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    if isinstance(value, dict):
        return {str(key): to_json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_value(item) for item in value]
    return str(value)


def round_shown(value: object) -> object:
    """A float to 15 digits, which are exact: the rest, as of 0.1 + 0.2, is an error."""
    return float(f"{value:.15g}") if isinstance(value, float) else value


def describe_unreadable(rows: Iterable[Sequence[object]]) -> str:
    """Says that some text could not be read whole; empty if all could."""
    if any(isinstance(cell, str) and _UNREADABLE in cell for row in rows for cell in row):
        return (
            f"Some text is not valid UTF-8: {_UNREADABLE} stands for bytes that could not be read."
        )
    return ""


def render_interval(value: dt.timedelta) -> str:
    """An ISO 8601 duration.

    >>> render_interval(dt.timedelta(days=40, hours=-1)), render_interval(dt.timedelta(hours=-2))
    ('P39DT23H', 'PT-2H')
    """
    if isinstance(value, Interval):
        return value.iso
    microseconds = value // dt.timedelta(microseconds=1)
    return _render_duration(0, *_divide(microseconds, _MICROSECONDS_A_DAY))


def _to_json_number(value: Decimal) -> float | str:
    if not value.is_finite():
        return _spell_special(float(value))
    number = float(value)
    if abs(value) < _DOUBLE_ENDS and Decimal(repr(number)) == value:
        return number
    return format(value, "f") if value.adjusted() < 1000 else str(value)


def _spell_special(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _render_duration(months: int, days: int, microseconds: int) -> str:
    years, months = _divide(months, 12)
    seconds, fraction = _divide(microseconds, 1_000_000)
    minutes, seconds = _divide(seconds, 60)
    hours, minutes = _divide(minutes, 60)
    date = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n)
    time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    if seconds or fraction:
        sign = "-" if microseconds < 0 else ""
        digits = f"{abs(fraction):06}".rstrip("0")
        time += f"{sign}{abs(seconds)}{'.' if digits else ''}{digits}S"
    if not date and not time:
        return "PT0S"
    return f"P{date}T{time}" if time else f"P{date}"


def _divide(value: int, by: int) -> tuple[int, int]:
    """Divides towards zero, so that quotient and remainder have the sign of ``value``."""
    quotient, rest = divmod(abs(value), by)
    return (quotient, rest) if value >= 0 else (-quotient, -rest)
