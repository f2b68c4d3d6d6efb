"""Builds the query that fetches a page, with cells cut to length and values that Python can hold.

The columns are described first, with LIMIT 0; then the page is fetched by a query around the query,
which cuts text and bytes, so that no cell of a gigabyte is copied. Values that Python's types may
not represent arrive as DuckDB's text and are converted here as far as possible: an interval with
months, a date of ``infinity`` or of the year 44 BC, nanoseconds.

Knows DuckDB's types by name; runs nothing. Such values inside lists and structs are not converted;
a column with times with a zone or intervals inside stays text.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence

from execution.results.collector import PageQuery, share_cell_bytes
from nl2sql.results.json_values import read_interval
from nl2sql.settings import LimitSettings

# Qualified: the file may define macros with these names.
_LEFT = 'system.main."left"'
_SLICE = "system.main.array_slice"

# The most bytes of the rows that are fetched at once.
_CHUNK_BYTES = 16 * 2**20
_MOST_ROWS_A_CHUNK = 1000

_NANOSECONDS = re.compile(r"\.\d{7}")
Reader = Callable[[str], object]

_NESTED = re.compile(r"[\[(]")
_UNREADABLE = ("TIMESTAMP WITH TIME ZONE", "INTERVAL")
# Nested types, whose values are not converted.
_AS_THEY_ARE = re.compile(r"^(DECIMAL|ENUM)\(")


def build_description(sql: str) -> PageQuery:
    """The query that returns no rows, only its columns."""
    # As a derived table, columns with the same name would be renamed.
    prefix = "(\n"
    return PageQuery(f"{prefix}{sql}\n) LIMIT 0", len(prefix))


def build_page(sql: str, types: Sequence[str], most_rows: int, limits: LimitSettings) -> PageQuery:
    """The query for the first ``most_rows`` rows; ``types`` are DuckDB's types of the columns.

    Of a cell that is too long, one letter or byte more arrives than ``limits`` allow.
    """
    longest = share_cell_bytes(limits, len(types)) + 1
    names = [f"c{at + 1}" for at in range(len(types))]
    outputs = [_build_output(name, kind, longest) for name, kind in zip(names, types, strict=True)]
    prefix = f"SELECT {', '.join(outputs)} FROM (\n"
    return PageQuery(
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


def _or_text(read: Reader) -> Reader:
    """Reads a value, or keeps the text of what Python cannot hold.

    Such are infinity, years before Christ and after 9999, nanoseconds, and too many digits.
    """

    def read_or_keep(text: str) -> object:
        try:
            return text if _NANOSECONDS.search(text) else read(text)
        except ValueError:
            return text

    return read_or_keep


_READERS: dict[str, Reader] = {
    "BIGNUM": _or_text(int),
    "DATE": _or_text(dt.date.fromisoformat),
    "INTERVAL": read_interval,
    "TIME_NS": _or_text(dt.time.fromisoformat),
    "TIMESTAMP": _or_text(dt.datetime.fromisoformat),
    "TIMESTAMP WITH TIME ZONE": _or_text(dt.datetime.fromisoformat),
    "TIMESTAMP_MS": _or_text(dt.datetime.fromisoformat),
    "TIMESTAMP_NS": _or_text(dt.datetime.fromisoformat),
    "TIMESTAMP_S": _or_text(dt.datetime.fromisoformat),
}
