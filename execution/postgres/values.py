"""Converts PostgreSQL's text to Python values as psycopg does, or keeps the text.

Dates before the year 1 or at infinity, times of 24:00 and intervals outside Python's range stay
text, instead of making the query fail. Intervals keep their months, jsonb its exact numbers.
Ranges, network addresses and rows as values are text, since nothing here computes with them. Types
that an extension or a user made are text too: enums, composites, hstore, vectors.

Knows nothing of queries. Does not cover the binary format, which is not used, and the lower bounds
of arrays that do not start at 1.
"""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

from nl2sql.results.json_values import Interval, read_interval

_OR_TEXT = ("date", "time", "timetz", "timestamp", "timestamptz")
_AS_TEXT = (
    *("inet", "cidr", "record"),
    *(f"{name}{kind}" for name in ("int4", "int8", "num", "date", "ts", "tstz") for kind in
      ("range", "multirange")),
)  # fmt: skip

# Python neither parses nor prints an integer of more than 4,300 digits.
_MOST_DIGITS = 4000
# The exponents of numeric are smaller. With larger ones Python may fail, or print a thousand
# million zeros.
_SMALLEST, _LARGEST = -20_000, 140_000
# json.loads, and all code that walks its result, recurses once for each level.
_DEEPEST = 100


def register_loaders(connection: AsyncConnection[Any]) -> None:
    """Registers the loaders of this module on the connection."""
    adapters = connection.adapters
    for name in _OR_TEXT:
        info = adapters.types[name]
        usual = adapters.get_loader(info.oid, Format.TEXT)
        if usual is not None:
            adapters.register_loader(info.oid, _or_text(usual))
    for name in _AS_TEXT:
        adapters.register_loader(adapters.types[name].oid, _TextLoader)
    adapters.register_loader("interval", _IntervalLoader)
    adapters.register_loader("json", JsonLoader)
    adapters.register_loader("jsonb", JsonLoader)
    if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
        # In such a database text may be in any encoding.
        for name in ("text", "varchar", "bpchar", "name", '"char"'):
            adapters.register_loader(adapters.types[name].oid, _TextLoader)


class _TextLoader(Loader):
    """Loads text as UTF-8 and marks invalid bytes."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode(errors="replace")


def _or_text(usual: type[Any]) -> type[Loader]:
    class OrTextLoader(Loader):
        """Loads the usual value, or the text if Python cannot represent the value."""

        def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
            super().__init__(oid, context)
            self._load = usual(oid, context).load

        def load(self, data: Buffer) -> object:
            try:
                return self._load(data)
            except psycopg.DataError:
                return bytes(data).decode()

    return OrTextLoader


class _IntervalLoader(Loader):
    """Loads an Interval, or the text for infinity and values outside Python's range."""

    def load(self, data: Buffer) -> Interval | str:
        return read_interval(bytes(data).decode())


class JsonLoader(Loader):
    """Loads JSON with numbers as Decimal, or its text if the value cannot be represented."""

    def load(self, data: Buffer) -> object:
        raw = bytes(data)
        if raw.count(b"[") + raw.count(b"{") > _DEEPEST and _is_deep(raw):
            return raw.decode()
        try:
            value = json.loads(raw, parse_float=_parse_number, parse_int=_parse_integer)
        except OverflowError:
            return raw.decode()
        if b"\\ud" in raw or b"\\uD" in raw:
            # The type json, unlike jsonb, allows half a surrogate pair, which UTF-8 cannot encode.
            try:
                json.dumps(value, ensure_ascii=False, default=str).encode()
            except UnicodeEncodeError:
                return raw.decode()
        return value


def _parse_integer(digits: str) -> int | Decimal:
    return int(digits) if len(digits) < _MOST_DIGITS else Decimal(digits)


def _parse_number(digits: str) -> Decimal:
    """Raises OverflowError for numbers out of range for numeric: json allows any digits."""
    try:
        number = Decimal(digits)
    except InvalidOperation as error:
        raise OverflowError(digits) from error
    if number and not _SMALLEST < number.adjusted() < _LARGEST:
        raise OverflowError(digits)
    return number


def _is_deep(raw: bytes) -> bool:
    """True if brackets nest more than ``_DEEPEST`` deep, including those within strings."""
    depth = deepest = 0
    for byte in raw:
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    return deepest > _DEEPEST
