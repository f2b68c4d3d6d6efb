"""Chooses the chart of rows by the types and the number of their values, or none."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from quorumsql.contract.answers import ResultColumn

# More bars than these do not fit on a screen; a single one compares nothing.
_FEWEST_BARS, _MOST_BARS = 2, 30
# A shorter series is easier to read as bars with their values.
_FEWEST_POINTS = 8
# Two columns name a row (a year and a month), the last one counts.
_MOST_LABELS = 2

_NUMERIC = re.compile(
    r"(?:u?(?:big|small|tiny|huge|medium)?int(?!erval)|num|dec|float|double|real|serial)",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"(?:.*_)?(?:id|code|key|no|nr)", re.IGNORECASE)
_TIME = re.compile(r"(?:19|20)\d\d(?:-(?:\d\d|Q[1-4])(?:-\d\d(?:[T ].*)?)?)?")


@dataclass(frozen=True, slots=True)
class Bars:
    """A number for each label; ``title`` is the name of the numbers."""

    title: str
    labels: tuple[str, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """A number for each point in time, in order."""

    title: str
    labels: tuple[str, ...]
    values: tuple[float, ...]


Chart = Bars | Series


def choose_chart(columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]]) -> Chart | None:
    """The chart that helps to read the rows; None if they have no form that one fits.

    It is for one or two columns of labels, all of them different, and one column of numbers, which
    is the last one and not an identifier. Labels that are points in time make a series.
    """
    if not 1 <= len(columns) - 1 <= _MOST_LABELS or len(rows) < _FEWEST_BARS:
        return None
    counted = columns[-1]
    values = [_read_number(row[-1], counted.type) for row in rows]
    if None in values or _IDENTIFIER.fullmatch(counted.name):
        return None
    numbers = tuple(value for value in values if value is not None)
    if any(row[0] is None for row in rows):
        return None
    labels = tuple(" · ".join(str(value) for value in row[:-1]) for row in rows)
    if len(set(labels)) < len(labels):
        return None
    if len(columns) == 2 and all(_TIME.fullmatch(label) for label in labels):
        labels, numbers = _sort(labels, numbers)
        if len(rows) >= _FEWEST_POINTS:
            return Series(counted.name, labels, numbers)
    elif any(_read_number(row[0], columns[0].type) is not None for row in rows):
        return None  # two numbers are no label and its number
    return Bars(counted.name, labels, numbers) if len(rows) <= _MOST_BARS else None


def is_numeric(type_: str) -> bool:
    """Whether a database's name of a type is that of numbers.

    >>> is_numeric("numeric(10,2)"), is_numeric("timestamp"), is_numeric("interval")
    (True, False, False)
    """
    return _NUMERIC.match(type_) is not None


def _sort(
    labels: tuple[str, ...], numbers: tuple[float, ...]
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Both in the order of the labels, which is that of the time that they name."""
    pairs = sorted(zip(labels, numbers, strict=True))
    return tuple(label for label, _ in pairs), tuple(number for _, number in pairs)


def _read_number(value: Any, type_: str) -> float | None:
    """The number of a cell; long and exact numbers are text in an answer."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str) and is_numeric(type_):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, int | float) and math.isfinite(value):
        return float(value)
    return None
