"""Shared by all modules of the generator: the calendar, money and table rows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeVar

Row = tuple[object, ...]
T = TypeVar("T")

TODAY = date(2025, 6, 30)
"""The ERP's today: no row is dated later unless it plans ahead."""

START = date(2022, 1, 1)
"""First day of the live data; only the legacy orders are older."""


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of one table: ``table`` is ``schema.table``, each row follows ``columns``."""

    table: str
    columns: tuple[str, ...]
    rows: Sequence[Row]


def rows_of(table: str, columns: str, rows: Sequence[Row]) -> TableRows:
    """Return a ``TableRows`` whose columns are given as one string of names."""
    return TableRows(table, tuple(columns.split()), rows)


def money(value: float) -> Decimal:
    """Return ``value`` rounded to cents.

    >>> money(12.346)
    Decimal('12.35')
    """
    return Decimal(round(value * 100)).scaleb(-2)


def day_between(rng: random.Random, first: date, last: date) -> date:
    """Return a day from ``first`` to ``last``, both included; ``first`` if they are swapped."""
    return first + timedelta(days=rng.randint(0, max(0, (last - first).days)))


def working_hour(rng: random.Random, day: date) -> datetime:
    """Return a moment of ``day`` between 7:00 and 18:59."""
    return datetime.combine(day, time(rng.randint(7, 18), rng.randint(0, 59)))


def month_starts(first: date, last: date) -> Iterator[date]:
    """Yield the first day of every month that starts between ``first`` and ``last``."""
    day = first.replace(day=1)
    while day <= last:
        if day >= first:
            yield day
        day = (day + timedelta(days=32)).replace(day=1)


def maybe(rng: random.Random, chance: float, value: T) -> T | None:
    """Return ``value`` with the given chance, else None."""
    return value if rng.random() < chance else None
