"""Numbers, dates and lengths of time that a query writes as constants, with or without a cast."""

from __future__ import annotations

import datetime as dt
import re

from sqlglot import exp

# No longer than what any database takes, and than Python reads.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_DAYS = {"day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}


def read_number(node: object) -> float | None:
    """A number written as such, with or without a sign or a cast; None for anything else."""
    if isinstance(node, exp.Neg):
        value = read_number(node.this)
        return None if value is None else -value
    if isinstance(node, exp.Cast | exp.Paren):
        return read_number(node.this)
    if isinstance(node, exp.Literal) and not node.is_string:
        try:
            return float(node.name)
        except ValueError:
            return None
    return None


def read_date(node: object) -> dt.date | None:
    """The date that a constant begins with; None for anything else."""
    if isinstance(node, exp.Cast | exp.Paren):
        return read_date(node.this)
    if isinstance(node, exp.Literal):
        try:
            return dt.date.fromisoformat(node.name[:10])
        except ValueError:
            return None
    return None


def read_days(node: object) -> float | None:
    """How many days a constant interval lasts at least; None when it is no interval of days."""
    if isinstance(node, exp.Cast | exp.Paren):
        return read_days(node.this)
    if isinstance(node, exp.Interval):
        number = node.this.name if isinstance(node.this, exp.Expr) else ""
        unit = node.args.get("unit")
        words = [*number.split(), unit.name if isinstance(unit, exp.Expr) else ""]
    elif isinstance(node, exp.Literal) and node.is_string:
        words = node.name.split()
    else:
        return None
    words = [word.lower() for word in words if word]
    if len(words) != 2 or not _WHOLE_NUMBER.fullmatch(words[0]):
        return None
    unit_days = _DAYS.get(words[1].removesuffix("s"))
    days = None if unit_days is None else abs(int(words[0])) * unit_days
    return days or None
