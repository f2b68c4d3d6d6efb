"""Dates cut to the beginning or the end of a unit."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import as_time, read_word, replace_calls, write
from repair.normalize.facts import Facts
from repair.normalize.units import find_unit

_SQLITE = {
    "year": "DATE({x}, 'start of year')",
    "quarter": "DATE({x}, 'start of month',"
    " ((1 - CAST(STRFTIME('%m', {x}) AS INTEGER)) % 3) || ' months')",
    "month": "DATE({x}, 'start of month')",
    "week": "DATE({x}, '-6 days', 'weekday 1')",
    "day": "DATE({x})",
    "hour": "STRFTIME('%Y-%m-%d %H:00:00', {x})",
    "minute": "STRFTIME('%Y-%m-%d %H:%M:00', {x})",
}
_LAST = {
    "postgres": "CAST(DATE_TRUNC('month', {x}) + INTERVAL '1 MONTH' - INTERVAL '1 DAY' AS DATE)",
    "sqlite": "DATE({x}, 'start of month', '+1 month', '-1 day')",
    "duckdb": "LAST_DAY({x})",
}
_CUTS = ("DATE_TRUNC", "DATETRUNC", "DATETIME_TRUNC", "TIMESTAMP_TRUNC", "TRUNC")
_TEMPORAL = ("date", "timestamp")


def date_truncation(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``DATE_TRUNC`` with arguments in any order, ``TRUNC(d, 'MM')``, ``LAST_DAY``."""

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        if name in ("LAST_DAY", "EOMONTH"):
            is_own = name == "LAST_DAY" and facts.target == "duckdb"
            if len(args) != 1 or (is_own and facts.kind_of(args[0]) != "text"):
                return None
            return write(_LAST[facts.target], facts, x=as_time(args[0], facts))
        if name == "TRUNC" and len(args) == 1 and facts.kind_of(args[0]) == "timestamp":
            return _cut(args[0], "day", facts)
        if len(args) != 2:
            return None
        first, second = args
        unit, value = find_unit(read_word(first)), second
        if not unit or facts.kind_of(first) in _TEMPORAL:
            unit, value = find_unit(read_word(second)), first
        if not unit:
            return None
        is_own = name == "DATE_TRUNC" and value is second and isinstance(first, exp.Literal)
        if is_own and facts.target != "sqlite" and facts.kind_of(value) != "text":
            return None
        return _cut(value, unit, facts)

    return replace_calls(tree, [*_CUTS, "LAST_DAY", "EOMONTH"], build)


def _cut(value: exp.Expr, unit: str, facts: Facts) -> exp.Expr | None:
    if facts.target == "sqlite":
        template = _SQLITE.get(unit)
        return write(template, facts, x=value) if template else None
    return write(f"DATE_TRUNC('{unit}', {{x}})", facts, x=as_time(value, facts))
