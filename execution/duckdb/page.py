"""The query that fetches a page: its cells cut to length by DuckDB, its values such as Python has.

The columns are asked for first, with LIMIT 0, and the page is a query around the query. Text and
bytes end at a length there, so that no cell of a gigabyte is copied. What Python's types cannot
hold arrives as DuckDB's text and is read here as far as they can: an interval with months, a date
of ``infinity`` or of the year 44 BC, nanoseconds.

Knows DuckDB's types by name; runs nothing. Does not cover such values inside lists and structs, but
for times with a zone and intervals: a column that holds those deep inside stays text.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from execution.results.collector import share_cell_bytes
from nl2sql.results.json_values import Interval
from nl2sql.settings import LimitSettings

# Under their full names: the file may define macros that are called so.
_LEFT = 'system.main."left"'
_SLICE = "system.main.array_slice"

# What the rows that are fetched at once may take.
_CHUNK_BYTES = 16 * 2**20
_MOST_ROWS_A_CHUNK = 1000

Reader = Callable[[str], object]

_NESTED = re.compile(r"[\[(]")
_UNREADABLE = ("TIMESTAMP WITH TIME ZONE", "INTERVAL")
# Nested types, whose values come as they are.
_AS_THEY_ARE = re.compile(r"^(DECIMAL|ENUM)\(")
_INTERVAL_PART = re.compile(r"(-?\d+) (year|month|day)s?")
_INTERVAL_TIME = re.compile(r"(-?)(\d+):(\d\d):(\d\d)(?:\.(\d{1,6}))?")
_MONTHS = {"year": 12, "month": 1}


@dataclass(frozen=True, slots=True)
class Page:
    """The query for a page, or for its columns alone.

    ``offset`` characters precede the query that was asked for. ``readers`` are for columns that
    arrive as text and are none.
    """

    sql: str
    offset: int
    readers: dict[int, Reader]
    rows_a_chunk: int = 1


def build_description(sql: str) -> Page:
    """The query that gives no row, only its columns."""
    # As a derived table it would have other names where two columns share one.
    prefix = "(\n"
    return Page(f"{prefix}{sql}\n) LIMIT 0", len(prefix), {})


def build_page(sql: str, types: Sequence[str], most_rows: int, limits: LimitSettings) -> Page:
    """The query for the first ``most_rows`` rows; ``types`` are the columns', in DuckDB's words.

    A cell comes with one letter or byte more than ``limits`` let through, where there is one more.
    """
    longest = share_cell_bytes(limits, len(types)) + 1
    names = [f"c{at + 1}" for at in range(len(types))]
    outputs = [_build_output(name, kind, longest) for name, kind in zip(names, types, strict=True)]
    prefix = f"SELECT {', '.join(outputs)} FROM (\n"
    return Page(
        sql=f"{prefix}{sql}\n) AS page({', '.join(names)}) LIMIT {most_rows}",
        offset=len(prefix),
        readers={at: _READERS[kind] for at, kind in enumerate(types) if kind in _READERS},
        rows_a_chunk=min(max(_CHUNK_BYTES // (longest * len(types)), 1), _MOST_ROWS_A_CHUNK),
    )


def _build_output(name: str, kind: str, longest: int) -> str:
    if kind in ("VARCHAR", "JSON"):
        return f"{_LEFT}({name}, {longest})"
    if kind == "BLOB":
        return f"{_SLICE}({name}, 1, {longest})"
    if kind in _READERS or _stays_text(kind):
        return f"{_LEFT}(CAST({name} AS VARCHAR), {longest})"
    return name


def _stays_text(kind: str) -> bool:
    if _NESTED.search(kind) is None or _AS_THEY_ARE.match(kind):
        return False
    return any(inner in kind for inner in _UNREADABLE)


def read_interval(text: str) -> object:
    """DuckDB's spelling of an interval as its months, days and microseconds.

    >>> read_interval("1 year 2 months 3 days -01:00:00.5").parts
    (14, 3, -3600500000)
    """
    months = days = microseconds = 0
    for number, unit in _INTERVAL_PART.findall(text):
        if unit == "day":
            days = int(number)
        else:
            months += int(number) * _MONTHS[unit]
    if time := _INTERVAL_TIME.search(text):
        sign, hours, minutes, seconds, fraction = time.groups()
        whole = (int(hours) * 60 + int(minutes)) * 60 + int(seconds)
        microseconds = whole * 1_000_000 + int((fraction or "").ljust(6, "0"))
        microseconds = -microseconds if sign else microseconds
    try:
        return Interval(months, days, microseconds)
    except OverflowError:
        return text


def _read_date(text: str) -> object:
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return text  # infinity, a year before Christ or behind 9999


def _read_timestamp(text: str) -> object:
    _, _, fraction = text.partition(".")
    if len(fraction.partition("+")[0]) > 6:
        return text  # nanoseconds
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return text


def _read_time(text: str) -> object:
    return text if len(text.partition(".")[2]) > 6 else dt.time.fromisoformat(text)


def _read_integer(text: str) -> object:
    try:
        return int(text)
    except ValueError:
        return text  # more digits than Python reads


_READERS: dict[str, Reader] = {
    "BIGNUM": _read_integer,
    "DATE": _read_date,
    "INTERVAL": read_interval,
    "TIME_NS": _read_time,
    "TIMESTAMP": _read_timestamp,
    "TIMESTAMP WITH TIME ZONE": _read_timestamp,
    "TIMESTAMP_MS": _read_timestamp,
    "TIMESTAMP_NS": _read_timestamp,
    "TIMESTAMP_S": _read_timestamp,
}
