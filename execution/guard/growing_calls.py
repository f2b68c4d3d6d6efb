"""Generators of rows, and calls that make texts, lists or numbers long; which of them are refused.

A call is refused when the text of the query does not tell how long its value becomes. Dates and
lengths of time count if the query writes them as constants, with or without a cast.
"""

from __future__ import annotations

import datetime as dt
import re

from sqlglot import exp

from execution.guard.value_sizes import (
    MOST_TIMES,
    measure_format,
    measure_growth,
    name_call,
    read_number,
)
from execution.guard_dialects import quote_fragment
from nl2sql.types import Violation

# No longer than what any database takes, and than Python reads.
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_DAYS = {"second": 1 / 86_400, "minute": 1 / 1440, "hour": 1 / 24}
_DAYS |= {"day": 1, "week": 7, "month": 28, "quarter": 90, "year": 365}


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


# Rows that one generator may make. A day for 270 years, or every second of a day.
MOST_ROWS = 100_000
# A step from one time of the data to another that is bound enough: their times lie close together.
LEAST_STEP_DAYS = 1 / 24
GENERATORS = (exp.GenerateSeries,)


def check_generator(node: exp.Expr) -> Violation | None:
    """Why a generator could make too many rows, or None."""
    start, end, step = (node.args.get(key) for key in ("start", "end", "step"))
    fragment = quote_fragment(node)
    refusal = Violation(
        "too_many_rows",
        fragment,
        f"{fragment} needs constant bounds, at most {MOST_ROWS} steps apart "
        "(LEAST(bound, number) will do), or a step of at least an hour.",
    )
    days = read_days(step)
    width = 1.0 if step is None else read_number(step)
    first, last = read_number(start), _read_bounded(end, width)
    if first is not None and last is not None:
        return None if width and abs(last - first) / abs(width) <= MOST_ROWS else refusal
    from_, to = read_date(start), read_date(end)
    if days is None:
        return refusal
    if from_ is not None and to is not None:
        return None if abs((to - from_).days) / days <= MOST_ROWS else refusal
    return None if days >= LEAST_STEP_DAYS else refusal


def count_generated(node: exp.Expr) -> float:
    """How many rows a generator makes at most."""
    step = read_number(node.args.get("step"))
    start = read_number(node.args.get("start"))
    end = _read_bounded(node.args.get("end"), step or 1.0)
    if start is None or end is None:
        return float(MOST_ROWS)
    return abs(end - start) / abs(step or 1.0) + 1


def _read_bounded(node: object, width: float | None) -> float | None:
    """A number, or the number which ``least(…)`` or ``greatest(…)`` keeps a bound from passing."""
    if isinstance(node, exp.Anonymous) and width:
        if name_call(node) != ("least" if width > 0 else "greatest"):
            return None
        numbers = [read_number(argument) for argument in node.expressions]
        found = [number for number in numbers if number is not None]
        return (min if width > 0 else max)(found, default=None)
    return read_number(node)


# Of a path in a JSON document: each ** gives as many values again as the document has levels, each
# comma in brackets may double them.
_MOST_DESCENTS = 1
_MOST_COMMAS = 10

_NAMED = (exp.Alias, exp.Kwarg, exp.PropertyEQ)
# ``@?`` and ``@@``; the latter searches texts, too.
_PATHS = (exp.JSONBPathExists, exp.MatchAgainst)
_TEXT_SEARCHES = frozenset(
    "phraseto_tsquery plainto_tsquery to_tsquery to_tsvector websearch_to_tsquery".split()
)
_GROWING = (exp.Pad, exp.RegexpReplace, exp.Repeat, exp.Replace)
# Nodes whose arguments are measured by their places.
_SUSPECTS = (*GENERATORS, exp.CTE, *_GROWING)


def check_call(node: exp.Expr) -> Violation | None:
    """Why a call, or an operator that stands for one, could make too much, or None."""
    if check := CHECKS.get(name_call(node)):
        return check(node)
    if isinstance(node, _PATHS) and (violation := _check_path(node)):
        return violation
    if isinstance(node, _GROWING) and measure_growth(node) is None:
        return _refuse(node, f": write how often as a number of at most {MOST_TIMES}.")
    return None


def _refuse(node: exp.Expr, message: str) -> Violation:
    """The refusal of a node, whose text comes before the message."""
    fragment = quote_fragment(node)
    return Violation("too_much_text", fragment, fragment + message)


def check_arguments(node: exp.Expr) -> Violation | None:
    """Refuses arguments of what is measured that stand elsewhere than they seem to."""
    if name_call(node) not in CHECKS and not isinstance(node, _SUSPECTS):
        return None
    kinds = (*_NAMED, exp.Variadic) if isinstance(node, _SUSPECTS) else _NAMED
    if not any(isinstance(argument, kinds) for argument in node.iter_expressions()):
        return None
    return _refuse(node, ": write its arguments one by one.")


def _check_format(node: exp.Expr) -> Violation | None:
    """Refuses ``format`` with a text that is no constant, or with a width that makes it long."""
    measured = measure_format(node)
    if measured is not None and measured[1] <= 2 * MOST_TIMES:
        return None
    return _refuse(node, f": write the format as a constant, with widths of at most {MOST_TIMES}.")


def _searches_text(node: object) -> bool:
    """Whether the node's value is a query for texts, or a text prepared for one, by its type."""
    if isinstance(node, exp.Paren):
        return _searches_text(node.this)
    if isinstance(node, exp.Cast):
        return node.to.sql("postgres").lower() in ("tsquery", "tsvector")
    if isinstance(node, exp.DPipe | exp.ArrayOverlaps):
        return _searches_text(node.this) or _searches_text(node.expression)
    return isinstance(node, exp.Anonymous) and name_call(node) in _TEXT_SEARCHES


def _check_path(node: exp.Expr) -> Violation | None:
    """Refuses a path in a JSON document that is no constant or may give values without end.

    A column behind ``@@``, or a query for texts, is no path: no cast makes it one.
    """
    if isinstance(node, exp.MatchAgainst):
        path = node.this
        if isinstance(path, exp.Column) or _searches_text(path):
            return None
    elif isinstance(node, exp.Anonymous):
        path = node.expressions[1] if len(node.expressions) > 1 else None
    else:
        path = node.expression
    path = path.unnest() if isinstance(path, exp.Expr) else None
    if (
        isinstance(path, exp.Literal)
        and path.name.count("**") <= _MOST_DESCENTS
        and path.name.count(",") <= _MOST_COMMAS
    ):
        return None
    return _refuse(
        node,
        f": write the path as a constant with at most one ** and {_MOST_COMMAS} commas; to search "
        "texts, write to_tsquery(…) there.",
    )


CHECKS = {
    "format": _check_format,
    "jsonb_path_exists": _check_path,
    "jsonb_path_match": _check_path,
    "jsonb_path_query_first": _check_path,
    "printf": _check_format,
}
