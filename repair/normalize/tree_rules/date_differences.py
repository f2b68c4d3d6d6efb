"""Differences of dates."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import (
    as_date,
    as_time,
    read_text,
    read_word,
    replace_calls,
    write,
)
from repair.normalize.facts import Facts
from repair.normalize.units import find_unit

_DAYS = "{end} - {start}"
_SECONDS = {"hour": 3600, "minute": 60, "second": 1, "day": 86400, "week": 604800}
# The number of unit boundaries crossed: T-SQL, BigQuery, DuckDB.
_TURNS = {
    "postgres": {
        "year": "EXTRACT(YEAR FROM {b}) - EXTRACT(YEAR FROM {a})",
        "quarter": "(EXTRACT(YEAR FROM {b}) - EXTRACT(YEAR FROM {a})) * 4"
        " + EXTRACT(QUARTER FROM {b}) - EXTRACT(QUARTER FROM {a})",
        "month": "(EXTRACT(YEAR FROM {b}) - EXTRACT(YEAR FROM {a})) * 12"
        " + EXTRACT(MONTH FROM {b}) - EXTRACT(MONTH FROM {a})",
    },
    "sqlite": {
        "year": "STRFTIME('%Y', {b}) - STRFTIME('%Y', {a})",
        "month": "(STRFTIME('%Y', {b}) - STRFTIME('%Y', {a})) * 12"
        " + STRFTIME('%m', {b}) - STRFTIME('%m', {a})",
    },
}
# The number of complete units: MySQL's TIMESTAMPDIFF.
_WHOLE = {
    "postgres": {
        "year": "EXTRACT(YEAR FROM AGE({b}, {a}))",
        "month": "EXTRACT(YEAR FROM AGE({b}, {a})) * 12 + EXTRACT(MONTH FROM AGE({b}, {a}))",
    },
    "sqlite": {
        "year": "STRFTIME('%Y', {b}) - STRFTIME('%Y', {a})"
        " - (STRFTIME('%m-%d', {b}) < STRFTIME('%m-%d', {a}))",
        "month": "(STRFTIME('%Y', {b}) - STRFTIME('%Y', {a})) * 12"
        " + STRFTIME('%m', {b}) - STRFTIME('%m', {a})"
        " - (STRFTIME('%d', {b}) < STRFTIME('%d', {a}))",
    },
}
_BETWEEN = ("DATEDIFF", "DATE_DIFF", "DATETIME_DIFF", "TIMESTAMP_DIFF")


def date_differences(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``DATEDIFF``, ``DATE_DIFF``, ``TIMESTAMPDIFF``, ``JULIANDAY``, on SQLite ``AGE``.

    Two arguments are MySQL's form: days from the second to the first. A unit first is T-SQL's form,
    a unit last BigQuery's.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        if name == "JULIANDAY":
            return _build_julian(args, facts)
        if name == "TIMESTAMPDIFF" and len(args) == 3:
            unit = find_unit(read_word(args[0]))
            return _subtract(args[1], args[2], unit, facts, whole=True)
        if name not in _BETWEEN:
            return None
        if len(args) == 2:
            return _subtract(args[1], args[0], "day", facts)
        if len(args) != 3:
            return None
        if unit := find_unit(read_word(args[0])):
            if facts.target == "duckdb" and read_text(args[0]):
                return None  # the target's own form
            return _subtract(args[1], args[2], unit, facts)
        return _subtract(args[1], args[0], find_unit(read_word(args[2])), facts)

    changed = False
    if facts.target == "sqlite":
        changed = _replace_ages(tree, facts)
    return replace_calls(tree, [*_BETWEEN, "TIMESTAMPDIFF", "JULIANDAY"], build) or changed


def _subtract(
    start: exp.Expr, end: exp.Expr, unit: str, facts: Facts, *, whole: bool = False
) -> exp.Expr | None:
    """The units from start to end, in parentheses; None for an unsupported unit."""
    if unit not in ("year", "quarter", "month", *_SECONDS):
        return None
    if facts.target == "duckdb":
        a, b = as_time(start, facts), as_time(end, facts)
        call = "DATE_SUB" if whole else "DATE_DIFF"
        return write(f"{call}('{unit}', {{a}}, {{b}})", facts, a=a, b=b)
    if unit in _SECONDS and (unit in ("hour", "minute", "second") or whole):
        return _subtract_seconds(start, end, _SECONDS[unit], facts)
    if unit in ("day", "week"):
        return _subtract_days(start, end, unit, facts)
    templates = (_WHOLE if whole else _TURNS)[facts.target]
    if unit not in templates:
        return None
    a, b = as_time(start, facts), as_time(end, facts)
    return exp.paren(write(templates[unit], facts, a=a, b=b), copy=False)


def _subtract_days(start: exp.Expr, end: exp.Expr, unit: str, facts: Facts) -> exp.Expr:
    if facts.target == "sqlite":
        template = "CAST(JULIANDAY(DATE({b})) - JULIANDAY(DATE({a})) AS INTEGER)"
        days = write(template, facts, a=start, b=end)
    else:
        days = write("({b} - {a})", facts, a=as_date(start, facts), b=as_date(end, facts))
    return write("({x} / 7)", facts, x=days) if unit == "week" else days


def _subtract_seconds(start: exp.Expr, end: exp.Expr, size: int, facts: Facts) -> exp.Expr:
    if facts.target == "sqlite":
        template = "(STRFTIME('%s', {b}) - STRFTIME('%s', {a}))"
        seconds = write(template, facts, a=start, b=end)
        return seconds if size == 1 else write(f"({{x}} / {size})", facts, x=seconds)
    a, b = (
        value
        if facts.kind_of(value) == "timestamp"
        else write("CAST({x} AS TIMESTAMP)", facts, x=value)
        for value in (start, end)
    )
    divisor = "" if size == 1 else f" / {size}"
    return write(f"TRUNC(EXTRACT(EPOCH FROM ({{b}} - {{a}})){divisor})", facts, a=a, b=b)


def _build_julian(args: list[exp.Expr], facts: Facts) -> exp.Expr | None:
    """SQLite's Julian day number."""
    if facts.target == "sqlite" or len(args) != 1:
        return None
    is_now = (read_text(args[0]) or "").lower() == "now"
    value = write("CAST(CURRENT_TIMESTAMP AS TIMESTAMP)", facts) if is_now else args[0]
    if facts.kind_of(value) != "timestamp":
        value = write("CAST({x} AS TIMESTAMP)", facts, x=value)
    call = "EXTRACT(JULIAN FROM {x})" if facts.target == "postgres" else "JULIAN({x})"
    return write(f"({call} - 0.5)", facts, x=value)


def _replace_ages(tree: exp.Expr, facts: Facts) -> bool:
    """Replaces the years of an AGE by an expression that SQLite can compute."""
    changed = False
    for node in list(find_all(tree, exp.Extract)):
        age = node.expression
        if not isinstance(age, exp.Anonymous) or age.name.upper() != "AGE":
            continue
        args = age.expressions
        end = args[0] if len(args) == 2 else write("CURRENT_DATE", facts)
        unit = find_unit(read_word(node.this))
        if unit == "year" and (new := _subtract(args[-1], end, unit, facts, whole=True)):
            node.replace(new)
            changed = True
    return changed
