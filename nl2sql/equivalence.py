"""When two results are the same. The vote, the evaluation and the guard's oracle share this.

The field's convention (test-suite-sql-eval, Zhong, Yu and Klein, EMNLP 2020): rows as a multiset,
any permutation of columns, row order only where the gold query orders, floats rounded to 4 places.
Column names do not count.

Columns are matched by backtracking over columns with equal multisets of values; each step checks
the multiset of the row prefixes built so far, so a wrong choice ends at once. Columns that are
equal row by row are interchangeable and are never tried against each other.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

Row = Sequence[object]
_PLACES = 4
_MIDNIGHT = "T00:00:00"
_TIMESTAMP = re.compile(rf"\d{{4}}-\d\d-\d\d{_MIDNIGHT}")


def are_equivalent(left: Sequence[Row], right: Sequence[Row], *, ordered: bool = False) -> bool:
    """True when both hold the same rows under some permutation of columns.

    ``ordered`` compares the rows in their order. Two empty results are equal.

    >>> are_equivalent([(1, "a"), (2, "b")], [("b", 2), ("a", 1)])
    True
    >>> are_equivalent([(1,), (2,)], [(2,), (1,)], ordered=True)
    False
    """
    if len(left) != len(right):
        return False
    if not left:
        return True
    if len(left[0]) != len(right[0]):
        return False
    return _match_columns(_normalize_columns(left), _normalize_columns(right), ordered)


def normalize_value(value: object) -> object:
    """A hashable form in which equal values are equal.

    Numbers by value, to 4 decimal places; a timestamp at midnight is its date, also where it is
    text in the form of ISO 8601, as results that came as JSON have it.

    >>> normalize_value(Decimal("2.50")) == normalize_value(2.5)
    True
    """
    if isinstance(value, str):
        return value.removesuffix(_MIDNIGHT) if _TIMESTAMP.fullmatch(value) else value
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value
    if isinstance(value, Decimal | float):
        return _normalize_number(value)
    if isinstance(value, dt.datetime):
        midnight = value.timetz() == dt.time(0)
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, dt.timedelta):
        return round(value.total_seconds(), _PLACES)
    if isinstance(value, list | tuple):
        return tuple(normalize_value(item) for item in value)
    return repr(value)


def _normalize_number(value: float | Decimal) -> object:
    if not math.isfinite(value):
        return repr(float(value))  # NaN is equal to itself here
    rounded: float | Decimal = value.__round__(_PLACES)
    # By way of int, since a float would round large integers.
    return int(rounded) if rounded == int(rounded) else float(rounded)


Column = tuple[object, ...]


def _normalize_columns(rows: Sequence[Row]) -> list[Column]:
    return [tuple(normalize_value(value) for value in column) for column in zip(*rows, strict=True)]


def _signature(column: Column, ordered: bool) -> object:
    return column if ordered else frozenset(Counter(column).items())


def _match_columns(left: list[Column], right: list[Column], ordered: bool) -> bool:
    left_signatures = [_signature(column, ordered) for column in left]
    right_signatures = [_signature(column, ordered) for column in right]
    if Counter(left_signatures) != Counter(right_signatures):
        return False
    if ordered or len(left) == 1:
        return True  # equal signatures are equal columns, or the only one
    options = [
        [at for at, other in enumerate(right_signatures) if other == signature]
        for signature in left_signatures
    ]
    order = sorted(range(len(left)), key=lambda at: len(options[at]))

    def extend(depth: int, prefixes: tuple[list[int], list[int]], used: frozenset[int]) -> bool:
        if depth == len(order):
            return True
        at = order[depth]
        tried: set[Column] = set()
        for option in options[at]:
            if option in used or right[option] in tried:
                continue
            tried.add(right[option])
            numbered = _extend_prefixes(prefixes, left[at], right[option])
            if numbered and extend(depth + 1, numbered, used | {option}):
                return True
        return False

    rows = len(left[0])
    return extend(0, ([0] * rows, [0] * rows), frozenset())


def _extend_prefixes(
    prefixes: tuple[list[int], list[int]], left: Column, right: Column
) -> tuple[list[int], list[int]] | None:
    """Row prefixes one column longer, as numbers; None when their multisets differ."""
    numbers: dict[tuple[int, object], int] = {}
    longer = tuple(
        [numbers.setdefault(pair, len(numbers)) for pair in zip(prefix, column, strict=True)]
        for prefix, column in zip(prefixes, (left, right), strict=True)
    )
    if Counter(longer[0]) != Counter(longer[1]):
        return None
    return longer[0], longer[1]
