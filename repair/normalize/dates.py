"""Dates: their parts, their text, their differences, and dates plus or minus some units."""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.dialects import Dialect, MySQL, Postgres
from sqlglot.time import format_time

from nl2sql.sql.column_kinds import kind_of
from repair.normalize.calls import (
    list_inner_first,
    read_number,
    read_text,
    read_word,
    replace_calls,
)
from repair.normalize.facts import NUMERIC, TEMPORAL, Facts
from repair.normalize.readers import write

_UNITS = {
    name: unit
    for unit, names in {
        "year": "year years yyyy yy",
        "quarter": "quarter quarters qq q",
        "month": "month months mm m",
        "week": "week weeks wk ww weekofyear",
        "day": "day days dd d dayofmonth",
        "hour": "hour hours hh",
        "minute": "minute minutes mi n",
        "second": "second seconds ss s",
        "dow": "dow",
        "doy": "doy dayofyear",
        "dayofweek": "dayofweek dw",
        "epoch": "epoch",
    }.items()
    for name in names.split()
}
_EXTRACTED = {
    **{unit: f"EXTRACT({unit.upper()} FROM {{x:time}})" for unit in _UNITS.values()},
    "dayofweek": "(EXTRACT(DOW FROM {x:time}) + 1)",
}
_SIGNS = {"year": "Y", "month": "m", "day": "d", "hour": "H", "minute": "M", "second": "S"}
_PARTS = {
    "postgres": _EXTRACTED,
    "duckdb": _EXTRACTED,
    "sqlite": {
        **{
            unit: f"CAST(STRFTIME('%{sign}', {{x}}) AS INTEGER)"
            for unit, sign in {**_SIGNS, "dow": "w", "doy": "j", "epoch": "s"}.items()
        },
        "quarter": "((CAST(STRFTIME('%m', {x}) AS INTEGER) + 2) / 3)",
        # The ISO week is that of its Thursday.
        "week": "((STRFTIME('%j', DATE({x}, '-3 days', 'weekday 4')) - 1) / 7 + 1)",
        "dayofweek": "(CAST(STRFTIME('%w', {x}) AS INTEGER) + 1)",
    },
}
_PART_CALLS = {name.upper(): name for name in "year quarter month week day hour minute".split()}
_PART_CALLS |= {name: name.lower() for name in ("SECOND", "DAYOFMONTH", "DAYOFWEEK", "DAYOFYEAR")}


def date_parts(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``YEAR(d)``, ``DATEPART(year, d)``, and ``EXTRACT(YEAR FROM d)`` of a text.

    The year of a column of numbers is the column itself.
    """
    changed = False
    for node in list_inner_first(tree, exp.Extract):
        if facts.target == "sqlite" or _needs_cast(node.expression, facts):
            changed |= _replace_part(node, read_word(node.this), node.expression, facts)

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        unit = _PART_CALLS.get(name, read_word(args[0]) if args else "")
        if len(args) != 1 + (name not in _PART_CALLS):
            return None
        is_own = facts.target == "duckdb" and (name in _PART_CALLS or read_text(args[0]))
        if is_own and not _needs_cast(args[-1], facts):
            return None
        return _build_part(unit, args[-1], facts)

    return replace_calls(tree, [*_PART_CALLS, "DATEPART", "DATE_PART"], build) or changed


def _replace_part(node: exp.Expr, unit: str, value: exp.Expr, facts: Facts) -> bool:
    if (new := _build_part(unit, value, facts)) is None:
        return False
    node.replace(new)
    return True


def _build_part(word: str, value: exp.Expr, facts: Facts) -> exp.Expr | None:
    unit = _UNITS.get(word, "")
    kind = facts.kind_of(value)
    if unit == "year" and kind in NUMERIC:
        return value
    if unit == "year" and kind == "text" and "year" in value.name.lower():
        return write("CAST({x} AS INTEGER)", facts, x=value)
    template = _PARTS[facts.target].get(unit)
    return write(template, facts, x=value) if template else None


def _needs_cast(value: exp.Expr, facts: Facts) -> bool:
    """Whether the value is known not to be a date."""
    return facts.kind_of(value) in NUMERIC | {"text"}


# The dialect in whose notation a function's format is; None for that of ``strftime``.
_NOTATIONS = {"DATE_FORMAT": MySQL, "TO_CHAR": Postgres, "STRFTIME": None}
_OWN_FORMAT = {"postgres": "TO_CHAR", "sqlite": "STRFTIME", "duckdb": "STRFTIME"}
_SIGN = re.compile("%(.)")
_SQLITE_SIGNS = frozenset("YmdHMSjw")


def date_formats(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``DATE_FORMAT(d, '%Y-%m')``, ``strftime('%Y-%m', d)``, ``TO_CHAR(d, 'YYYY-MM')``.

    Does nothing if the target cannot express a part of the format.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        if len(args) != 2:
            return None
        first = 0 if name == "STRFTIME" and read_text(args[0]) else 1
        text, value = read_text(args[first]), args[1 - first]
        is_placed = name != "STRFTIME" or (first == 0) == (facts.target == "sqlite")
        is_date = facts.target == "sqlite" or facts.kind_of(value) != "text"
        if text is None or (name == _OWN_FORMAT[facts.target] and is_placed and is_date):
            return None
        if facts.target != "sqlite" and text and (read_text(value) or "").lower() == "now":
            value = write("CURRENT_TIMESTAMP", facts)
        written = _translate(text, _NOTATIONS[name], facts.target)
        literal = exp.Literal.string(written)
        template = {
            "postgres": "TO_CHAR({x:time}, {f})",
            "sqlite": "STRFTIME({f}, {x})",
            "duckdb": "STRFTIME({x:time}, {f})",
        }[facts.target]
        return write(template, facts, x=value, f=literal) if written else None

    return replace_calls(tree, _NOTATIONS, build)


def _translate(text: str, notation: type[Dialect] | None, target: str) -> str:
    """The format in the target's notation; empty if one of both cannot express it.

    >>> _translate("%Y-%m", None, "postgres"), _translate("YYYY/MM", Postgres, "duckdb")
    ('YYYY-MM', '%Y/%m')
    >>> _translate("%M", MySQL, "sqlite")
    ''
    """
    plain: str = text
    if notation is not None:
        plain = format_time(text, notation.TIME_MAPPING, notation.TIME_TRIE) or ""
    # Letters that are left are words, or signs that sqlglot does not know.
    if any(sign.isalpha() for sign in _SIGN.sub("", plain)):
        return ""
    if target == "postgres":
        written = format_time(plain, Postgres.INVERSE_TIME_MAPPING, Postgres.INVERSE_TIME_TRIE)
        return "" if not written or "%" in written else written
    is_known = target != "sqlite" or _SQLITE_SIGNS.issuperset(_SIGN.findall(plain))
    return plain if is_known else ""


_DAYS = frozenset({"day", "week", "month", "quarter", "year"})
# SQLite has no weeks and no quarters; PostgreSQL no quarters.
_SCALED = {"week": ("day", 7), "quarter": ("month", 3)}
_MODIFIER = re.compile(r"\s*([+-]?)\s*(\d+)\s+(\w+?)s?\s*")
_FORWARD = ("DATE_ADD", "ADDDATE", "DATEADD", "TIMESTAMPADD")
_BACK = ("DATE_SUB", "SUBDATE")


def date_shifts(tree: exp.Expr, facts: Facts) -> bool:
    """``DATE_SUB(d, INTERVAL 1 MONTH)``, ``DATEADD(day, 7, d)``, ``DATE(d, '-1 month')``.

    They become a sum of a date and an interval; on SQLite, which has no intervals, a call.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        if name in ("DATE", "DATETIME"):
            return _build_modified(call, facts)
        if len(args) == 3 and name in _FORWARD:
            return _shift(args[2], args[1], _UNITS.get(read_word(args[0]), ""), 1, facts)
        if len(args) != 2:
            return None
        sign = -1 if name in _BACK else 1
        if isinstance(args[1], exp.Interval):
            return _shift_by(args[0], args[1], sign, facts)
        return _shift(args[0], args[1], "day", sign, facts)

    changed = replace_calls(tree, [*_FORWARD, *_BACK, "DATE", "DATETIME"], build)
    for node in list_inner_first(tree, exp.Add, exp.Sub):
        if not isinstance(node.right, exp.Interval):
            continue
        if facts.target == "sqlite" or facts.kind_of(node.left) == "text":
            new = _shift_by(node.left, node.right, 1 if isinstance(node, exp.Add) else -1, facts)
            if new is not None:
                node.replace(new)
                changed = True
    if facts.target == "sqlite":
        changed |= _undo_casts(tree, facts)
    return changed


def _undo_casts(tree: exp.Expr, facts: Facts) -> bool:
    """SQLite's cast of a text to a date is one to a number: 2024 for ``'2024-01-31'``."""
    changed = False
    for cast in list_inner_first(tree, exp.Cast):
        if kind_of(cast.to) in TEMPORAL:
            is_literal = read_text(cast.this) is not None
            call = "DATE" if kind_of(cast.to) == "date" else "DATETIME"
            cast.replace(write("{x}" if is_literal else f"{call}({{x:bare}})", facts, x=cast.this))
            changed = True
    return changed


def _shift_by(value: exp.Expr, interval: exp.Interval, sign: int, facts: Facts) -> exp.Expr | None:
    """The value shifted by an interval of one unit; None for several units."""
    amount, unit = interval.this, _UNITS.get(read_word(interval.args.get("unit")), "")
    if isinstance(amount, exp.Literal) and not unit:
        words = str(amount.this).split()
        if len(words) != 2 or not words[0].lstrip("+-").isdigit():
            return None
        amount, unit = exp.Literal.number(words[0]), _UNITS.get(words[1].lower(), "")
    return _shift(value, amount, unit, sign, facts) if amount is not None else None


def _shift(
    value: exp.Expr, amount: exp.Expr, unit: str, sign: int, facts: Facts
) -> exp.Expr | None:
    """The value shifted by ``sign`` times ``amount`` units."""
    if not unit or isinstance(amount, exp.Interval):
        return None
    number, is_lite = read_number(amount), facts.target == "sqlite"
    plain, factor = _SCALED.get(unit, (unit, 1)) if is_lite or unit == "quarter" else (unit, 1)
    if is_lite:
        is_day = unit in _DAYS and facts.kind_of(value) != "timestamp"
        call = "DATE" if is_day and "DATETIME" not in value.name.upper() else "DATETIME"
        if number is not None:
            steps = f"'{sign * number * factor:+d} {plain}s'"
            return write(f"{call}({{x:bare}}, {steps})", facts, x=value)
        steps = f"({sign * factor} * {{n}}) || ' {plain}s'"
        return write(f"{call}({{x:bare}}, {steps})", facts, x=value, n=amount)
    text = read_text(value)
    spec = "date" if text is not None and len(text) == 10 and unit in _DAYS else "time"
    if number is not None:
        sign, size = (sign if number >= 0 else -sign), abs(number) * factor
        by = f"INTERVAL '{size} {plain.upper()}'"
        return write(f"{{x:{spec}}} {'+' if sign > 0 else '-'} {by}", facts, x=value)
    by = f"{{n}} * INTERVAL '{factor} {plain.upper()}'"
    return write(f"{{x:{spec}}} {'+' if sign > 0 else '-'} {by}", facts, x=value, n=amount)


def _build_modified(call: exp.Anonymous, facts: Facts) -> exp.Expr | None:
    """SQLite's modifiers as intervals; None for SQLite itself and for an unknown modifier."""
    args, kind = call.expressions, "DATE" if call.name.upper() == "DATE" else "TIMESTAMP"
    if facts.target == "sqlite" or not args:
        return None
    if (read_text(args[0]) or "").lower() == "now":
        date = write(f"CURRENT_{kind}", facts)
    elif len(args) == 1:
        return None
    else:
        date = write("{x:time}", facts, x=args[0])
    for arg in args[1:]:
        text = (read_text(arg) or "").lower()
        found = _MODIFIER.fullmatch(text)
        unit = _UNITS.get(found[3] if found else text.removeprefix("start of "), "")
        if not unit:
            return None
        if found:
            by = f"INTERVAL '{found[2]} {unit.upper()}'"
            date = write(f"({{x}} {found[1] or '+'} {by})", facts, x=date)
        else:
            date = write(f"DATE_TRUNC('{unit}', {{x}})", facts, x=date)
    return date if len(args) == 1 else write(f"CAST({{x}} AS {kind})", facts, x=date)


_STARTS = {
    "year": "DATE({x:bare}, 'start of year')",
    "month": "DATE({x:bare}, 'start of month')",
    "week": "DATE({x:bare}, '-6 days', 'weekday 1')",
    "day": "DATE({x:bare})",
}
# The number of unit boundaries crossed, as in T-SQL; complete days are the same.
_SPANS = {
    "postgres": {
        "day": "({b:date} - {a:date})",
        "week": "(({b:date} - {a:date}) / 7)",
        "year": "(EXTRACT(YEAR FROM {b:time}) - EXTRACT(YEAR FROM {a:time}))",
        "month": "((EXTRACT(YEAR FROM {b:time}) - EXTRACT(YEAR FROM {a:time})) * 12"
        " + EXTRACT(MONTH FROM {b:time}) - EXTRACT(MONTH FROM {a:time}))",
    },
    "sqlite": {
        "day": "CAST(JULIANDAY({b:date}) - JULIANDAY({a:date}) AS INTEGER)",
        "week": "(CAST(JULIANDAY({b:date}) - JULIANDAY({a:date}) AS INTEGER) / 7)",
        "year": "(STRFTIME('%Y', {b}) - STRFTIME('%Y', {a}))",
        "month": "((STRFTIME('%Y', {b}) - STRFTIME('%Y', {a})) * 12"
        " + STRFTIME('%m', {b}) - STRFTIME('%m', {a}))",
    },
    "duckdb": {unit: f"DATE_DIFF('{unit}', {{a:time}}, {{b:time}})" for unit in (*_DAYS, *_SIGNS)},
}
# The number of complete units, as MySQL counts them: a year less before the day of the year.
_WHOLE = {
    "postgres": {"year": "EXTRACT(YEAR FROM AGE({b:time}, {a:time}))"},
    "sqlite": {
        "year": "(STRFTIME('%Y', {b}) - STRFTIME('%Y', {a})"
        " - (STRFTIME('%m-%d', {b}) < STRFTIME('%m-%d', {a})))"
    },
    "duckdb": {unit: f"DATE_SUB('{unit}', {{a:time}}, {{b:time}})" for unit in (*_DAYS, *_SIGNS)},
}
for _unit, _size in {"second": 1, "minute": 60, "hour": 3600}.items():
    _SPANS["postgres"][_unit] = f"TRUNC(EXTRACT(EPOCH FROM ({{b:time}} - {{a:time}})) / {_size})"
    _SPANS["sqlite"][_unit] = f"((STRFTIME('%s', {{b}}) - STRFTIME('%s', {{a}})) / {_size})"


def date_spans(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``DATEDIFF(b, a)``, ``DATEDIFF(day, a, b)``, ``TIMESTAMPDIFF(YEAR, a, b)``.

    Two arguments are MySQL's form: days from the second to the first. On SQLite also
    ``DATE_TRUNC``.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        if name == "DATE_TRUNC":
            is_lite = facts.target == "sqlite" and len(args) == 2
            start = _STARTS.get(_UNITS.get(read_word(args[0]), "")) if is_lite else None
            return write(start, facts, x=args[1]) if start else None
        if len(args) == 2:
            return _subtract(args[1], args[0], "day", facts)
        unit = _UNITS.get(read_word(args[0]), "") if len(args) == 3 else ""
        is_own = facts.target == "duckdb" and unit and read_text(args[0]) is not None
        if not unit or is_own:
            return None
        return _subtract(args[1], args[2], unit, facts, whole=name == "TIMESTAMPDIFF")

    return replace_calls(tree, ("DATEDIFF", "DATE_DIFF", "TIMESTAMPDIFF", "DATE_TRUNC"), build)


def _subtract(
    start: exp.Expr, end: exp.Expr, unit: str, facts: Facts, *, whole: bool = False
) -> exp.Expr | None:
    """The units from start to end; None for an unsupported unit."""
    if whole and unit == "month" and facts.target != "duckdb":
        return None
    templates = {**_SPANS[facts.target], **(_WHOLE[facts.target] if whole else {})}
    return write(templates[unit], facts, a=start, b=end) if unit in templates else None
