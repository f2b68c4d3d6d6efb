"""Dates plus or minus a number of units."""

from __future__ import annotations

import re

from sqlglot import exp

from repair.normalize.calls import (
    as_date,
    as_time,
    list_inner_first,
    read_number,
    read_text,
    read_word,
    replace_calls,
    write,
)
from repair.normalize.facts import Facts
from repair.normalize.units import find_unit

_FORWARD = ("DATE_ADD", "ADDDATE", "DATETIME_ADD", "TIMESTAMP_ADD")
_BACK = ("DATE_SUB", "SUBDATE", "DATETIME_SUB", "TIMESTAMP_SUB")
_BY_UNIT = ("DATEADD", "TIMESTAMPADD", "DATE_ADD")
_MODIFIED = ("DATE", "DATETIME")
_DAYS = frozenset({"day", "week", "month", "quarter", "year"})
# SQLite has no weeks and no quarters.
_SQLITE_UNITS = {"week": ("day", 7), "quarter": ("month", 3)}
_MODIFIER = re.compile(r"\s*([+-]?\s*\d+)\s+(\w+?)s?\s*")


def date_shifts(tree: exp.Expr, facts: Facts) -> bool:
    """``DATE_SUB(d, INTERVAL 1 MONTH)``, ``DATEADD(day, 7, d)``, ``DATE(d, '-1 month')``.

    They become a sum of a date and an interval; on SQLite, which has no intervals, a call.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        if name in _MODIFIED:
            return _build_modified(call, facts)
        if len(args) == 3 and name in _BY_UNIT:
            return _shift(args[2], args[1], find_unit(read_word(args[0])), 1, facts)
        if len(args) != 2:
            return None
        if name == "ADD_MONTHS":
            return _shift(args[0], args[1], "month", 1, facts)
        sign = 1 if name in _FORWARD else -1
        if isinstance(args[1], exp.Interval):
            is_own = facts.target == "duckdb" and name == "DATE_ADD"
            if is_own and facts.kind_of(args[0]) in ("date", "timestamp", ""):
                return None
            return _shift_by(args[0], args[1], sign, facts)
        return _shift(args[0], args[1], "day", sign, facts)

    changed = replace_calls(tree, [*_FORWARD, *_BACK, *_BY_UNIT, *_MODIFIED, "ADD_MONTHS"], build)
    for node in list_inner_first(tree, exp.Add, exp.Sub):
        if isinstance(node.right, exp.Interval) and _needs_words(node.left, facts):
            sign = 1 if isinstance(node, exp.Add) else -1
            if (new := _shift_by(node.left, node.right, sign, facts)) is not None:
                node.replace(new)
                changed = True
    return changed


def _needs_words(value: exp.Expr, facts: Facts) -> bool:
    """Whether the value needs a cast before an interval can be added."""
    return facts.target == "sqlite" or facts.kind_of(value) == "text"


def _shift_by(value: exp.Expr, interval: exp.Interval, sign: int, facts: Facts) -> exp.Expr | None:
    """The value shifted by an interval of one unit; None for several units."""
    amount, unit = interval.this, find_unit(read_word(interval.args.get("unit")))
    if amount is None:
        return None
    if isinstance(amount, exp.Literal) and not unit:
        words = str(amount.this).split()
        if len(words) != 2 or not words[0].lstrip("+-").isdigit():
            return None
        amount, unit = _build_number(int(words[0])), find_unit(words[1])
    return _shift(value, amount, unit, sign, facts)


def _shift(
    value: exp.Expr, amount: exp.Expr, unit: str, sign: int, facts: Facts
) -> exp.Expr | None:
    """The value shifted by ``sign`` times ``amount`` units."""
    if not unit or isinstance(amount, exp.Interval):
        return None
    number = read_number(amount)
    if facts.target == "sqlite":
        return _shift_text(value, amount, number, unit, sign, facts)
    day = read_text(value)
    is_day = day is not None and len(day) == 10 and unit in _DAYS
    date = as_date(value, facts) if is_day else as_time(value, facts)
    plain = unit.upper()
    if number is not None:
        sign = sign if number >= 0 else -sign
        operator, size = "+" if sign > 0 else "-", str(abs(number))
        if unit == "quarter":
            plain, size = "MONTH", str(3 * abs(number))
        return write(f"{{x}} {operator} INTERVAL '{size} {plain}'", facts, x=date)
    operator = "+" if sign > 0 else "-"
    if unit == "quarter":
        return write(f"{{x}} {operator} 3 * {{n}} * INTERVAL '1 MONTH'", facts, x=date, n=amount)
    return write(f"{{x}} {operator} {{n}} * INTERVAL '1 {plain}'", facts, x=date, n=amount)


def _shift_text(
    value: exp.Expr, amount: exp.Expr, number: int | None, unit: str, sign: int, facts: Facts
) -> exp.Expr:
    """The shifted value as a call of SQLite with a modifier."""
    has_time = unit not in _DAYS or facts.kind_of(value) == "timestamp" or _is_moment(value)
    call = "DATETIME" if has_time else "DATE"
    unit, factor = _SQLITE_UNITS.get(unit, (unit, 1))
    if number is not None:
        modifier = f"'{sign * number * factor:+d} {unit}s'"
        return write(f"{call}({{x}}, {modifier})", facts, x=value)
    product = "{n}" if factor * sign == 1 else f"({factor * sign} * {{n}})"
    return write(f"{call}({{x}}, {product} || ' {unit}s')", facts, x=value, n=amount)


def _is_moment(value: exp.Expr) -> bool:
    return isinstance(value, exp.Anonymous) and value.name.upper() in ("DATETIME", "NOW")


def _build_modified(call: exp.Anonymous, facts: Facts) -> exp.Expr | None:
    """SQLite's modifiers as intervals; None for SQLite itself and for an unknown modifier."""
    args = call.expressions
    if facts.target == "sqlite" or len(args) < 2:
        return None
    is_date = call.name.upper() == "DATE"
    if (read_text(args[0]) or "").lower() == "now":
        date = write("CURRENT_DATE" if is_date else "CURRENT_TIMESTAMP", facts)
    else:
        date = as_time(args[0], facts)
    for arg in args[1:]:
        text = (read_text(arg) or "").lower().strip()
        if text.startswith("start of "):
            unit = find_unit(text.removeprefix("start of "))
            moved = write(f"DATE_TRUNC('{unit}', {{x}})", facts, x=date) if unit else None
        elif found := _MODIFIER.fullmatch(text):
            number = _build_number(int(found[1].replace(" ", "")))
            moved = _shift(date, number, find_unit(found[2]), 1, facts)
        else:
            moved = None
        if moved is None:
            return None
        date = moved
    return write("CAST({x} AS DATE)", facts, x=date) if is_date else date


def _build_number(number: int) -> exp.Expr:
    literal = exp.Literal.number(abs(number))
    return exp.Neg(this=literal) if number < 0 else literal
