"""Collects the rows of a result within the limits on rows, on bytes and on the size of a cell.

All database adapters use it, so all results are cut and marked in the same way. Text and bytes that
are too long are cut after the last whole letter; any other value is withheld, since half an array
is not an array. Rows beyond the limits are left out, and the result is ``truncated``.

Knows nothing of databases. The adapters ensure that a single cell or row fits into memory.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType, NoneType
from typing import Any
from uuid import UUID

from nl2sql.deadline import read_left_s
from nl2sql.results.json_values import Interval
from nl2sql.settings import LimitSettings
from nl2sql.types import ExecutionLimits, ResultSet

# The bytes that a number, a date or a NULL counts for.
_FIXED_BYTES = 8


@dataclass(frozen=True, slots=True)
class PageQuery:
    """The query for a page of a result, or for its columns alone.

    ``offset`` characters precede the original query. ``readers`` convert columns of other types
    that arrive as text. ``rows_a_chunk`` rows never take more memory than a whole result may.
    """

    sql: str
    offset: int = 0
    readers: Mapping[int, Callable[[str], object]] = field(default_factory=dict)
    rows_a_chunk: int = 1


class ResultBuilder:
    """Takes rows until a limit is reached.

    ``readers`` convert columns that arrive as the database's text to values, unless the text is too
    long.
    """

    def __init__(
        self,
        columns: Sequence[str],
        most_rows: int,
        limits: LimitSettings,
        readers: Mapping[int, Callable[[str], object]] = MappingProxyType({}),
    ) -> None:
        self.columns = tuple(columns)
        self._most_rows = most_rows
        self._readers = readers
        self._bytes_left = limits.result_bytes
        self._cell_bytes = share_cell_bytes(limits, len(columns))
        self._rows: list[tuple[object, ...]] = []
        self._cut: list[tuple[int, int]] = []
        self._truncated = False

    def add(self, row: Sequence[object]) -> bool:
        """Adds a row. Returns False if a limit is reached: this and all later rows are left out."""
        if len(self._rows) == self._most_rows:
            self._truncated = True
            return False
        size = 0
        cut: list[tuple[int, object, bool]] = []
        value: Any
        for at, value in enumerate(row):
            kind = type(value)
            if kind in _FIXED:
                size += _FIXED_BYTES
                continue
            # isascii() only reads a flag.
            length = len(value) if kind is str and value.isascii() else _measure(value)
            if length > self._cell_bytes:
                shown = None if at in self._readers else _shorten(value, self._cell_bytes)
                cut.append((at, shown, True))
                length = self._cell_bytes
            elif kind is str and at in self._readers:
                cut.append((at, self._readers[at](value), False))
            size += length
        if size > self._bytes_left:
            self._truncated = True
            return False
        self._bytes_left -= size
        self._rows.append(self._replace(row, cut) if cut else tuple(row))
        return True

    def _replace(
        self, row: Sequence[object], cells: Sequence[tuple[int, object, bool]]
    ) -> tuple[object, ...]:
        changed = list(row)
        for at, value, is_cut in cells:
            changed[at] = value
            if is_cut:
                self._cut.append((len(self._rows), at))
        return tuple(changed)

    def build(self, types: Sequence[str], ms: float) -> ResultSet:
        """The result, which took ``ms`` milliseconds; ``types`` has one entry for each column."""
        return ResultSet(
            columns=self.columns,
            types=tuple(types),
            rows=tuple(self._rows),
            truncated=self._truncated,
            ms=ms,
            cut=tuple(self._cut),
        )

    @property
    def rows(self) -> Sequence[tuple[object, ...]]:
        """The rows collected so far."""
        return self._rows


def share_cell_bytes(limits: LimitSettings, columns: int) -> int:
    """The most bytes of a cell in a result of ``columns`` columns, so that one row always fits."""
    return min(limits.cell_bytes, limits.result_bytes // max(columns, 1))


def tighten_limits(limits: LimitSettings, tighter: ExecutionLimits | None = None) -> LimitSettings:
    """The limits of one statement; ``tighter`` and the rest of the request's time can lower them.

    Raises DeadlineExceeded if the request has no time left.

    >>> tighten_limits(LimitSettings(), ExecutionLimits(50, 2**40)).statement_timeout_ms
    50
    """
    if tighter is not None:
        limits = limits.model_copy(
            update={
                "statement_timeout_ms": min(limits.statement_timeout_ms, tighter.timeout_ms),
                "result_bytes": min(limits.result_bytes, tighter.result_bytes),
            }
        )
    left_s = read_left_s()
    if left_s is not None:
        # PostgreSQL takes 0 as no limit.
        left_ms = max(1, int(left_s * 1000))
        limits = limits.model_copy(
            update={"statement_timeout_ms": min(limits.statement_timeout_ms, left_ms)}
        )
    return limits


# Types whose values are short; all others are measured.
_FIXED = frozenset(
    {NoneType, bool, int, float, Decimal, dt.date, dt.datetime, dt.time, dt.timedelta, Interval}
    | {UUID}
)


def _measure(value: object) -> int:
    """The approximate number of bytes of the value's text."""
    if isinstance(value, str):
        return len(value.encode(errors="replace"))
    if isinstance(value, bytes | bytearray | memoryview):
        return len(value)
    if isinstance(value, dict):
        return sum(_measure(key) + _measure(item) for key, item in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return sum(map(_measure, value))
    return _FIXED_BYTES


def _shorten(value: object, length: int) -> object:
    if isinstance(value, str):
        return value.encode(errors="replace")[:length].decode(errors="ignore")
    return bytes(value[:length]) if isinstance(value, bytes | bytearray | memoryview) else None
