"""Functions that make rows: how many, and whether the text bounds the number."""

from __future__ import annotations

from sqlglot import exp

from execution.fragments import quote_fragment
from execution.guard.measured_functions import name_call
from execution.guard.written_constants import read_date, read_days, read_number
from nl2sql.types import Violation

# Rows that one generator may make. A day for 270 years, or every second of a day.
MOST_ROWS = 100_000
GENERATORS = (exp.GenerateSeries,)


def check_generator(node: exp.Expr) -> Violation | None:
    """Why a generator could make too many rows, or None."""
    start, end, step = (node.args.get(key) for key in ("start", "end", "step"))
    fragment = quote_fragment(node)
    refusal = Violation(
        "too_many_rows",
        fragment,
        f"{fragment} needs constant bounds, at most {MOST_ROWS} steps apart (LEAST(bound, number) "
        "will do), or a step of at least a day.",
    )
    days = read_days(step)
    width = 1.0 if step is None else read_number(step)
    first, last = read_number(start), _read_bounded(end, width)
    if first is not None and last is not None:
        return None if width and abs(last - first) / abs(width) <= MOST_ROWS else refusal
    from_, to = read_date(start), read_date(end)
    if days is None:
        return refusal
    if from_ is not None and to is not None and abs((to - from_).days) / days > MOST_ROWS:
        return refusal
    # Bounds from the data: dates lie so close together that a day's step is bound enough.
    return None if days >= 1 else refusal


def count_generated(node: exp.Expr) -> float:
    """How many rows a generator makes at most; 1 for anything else."""
    if isinstance(node, exp.SetOperation):
        # A recursion, of which all that is known is that it ends.
        return MOST_ROWS
    if not isinstance(node, GENERATORS):
        return 1.0
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
