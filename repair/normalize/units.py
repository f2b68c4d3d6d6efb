"""Units of time: their names in the dialects, and how the targets extract parts of a date."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.languages.english import MONTHS
from repair.normalize.calls import as_time, write
from repair.normalize.facts import Facts

_NAMES = {
    "year": "year years yyyy yyy yy y syyyy",
    "quarter": "quarter quarters qq q",
    "month": "month months mm mon m rm",
    "week": "week weeks wk ww iw isowk isoweek isoww weekofyear",
    "day": "day days dd d dayofmonth ddd date",
    "hour": "hour hours hh hh24 h",
    "minute": "minute minutes mi n min",
    "second": "second seconds ss s sec",
    "dow": "dow",
    "isodow": "isodow",
    "doy": "doy dayofyear dy",
    "dayofweek": "dayofweek dw weekday_1",
    "weekday": "weekday",
    "epoch": "epoch",
    "monthname": "monthname",
    "dayname": "dayname",
}
_BY_NAME = {name: unit for unit, names in _NAMES.items() for name in names.split()}
_DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()

_EXTRACTED = {
    **{
        unit: f"EXTRACT({unit.upper()} FROM {{x}})"
        for unit in ("year quarter month week day hour minute second dow isodow doy epoch".split())
    },
    "dayofweek": "EXTRACT(DOW FROM {x}) + 1",
    "weekday": "EXTRACT(ISODOW FROM {x}) - 1",
}
_FORMATTED = {
    "year": "%Y",
    "month": "%m",
    "day": "%d",
    "hour": "%H",
    "minute": "%M",
    "second": "%S",
    "dow": "%w",
    "doy": "%j",
    "epoch": "%s",
}
_SQLITE = {
    **{unit: f"CAST(STRFTIME('{sign}', {{x}}) AS INTEGER)" for unit, sign in _FORMATTED.items()},
    "quarter": "(CAST(STRFTIME('%m', {x}) AS INTEGER) + 2) / 3",
    # The ISO week is that of its Thursday.
    "week": "(CAST(STRFTIME('%j', DATE({x}, '-3 days', 'weekday 4')) AS INTEGER) - 1) / 7 + 1",
    "isodow": "(CAST(STRFTIME('%w', {x}) AS INTEGER) + 6) % 7 + 1",
    "dayofweek": "CAST(STRFTIME('%w', {x}) AS INTEGER) + 1",
    "weekday": "(CAST(STRFTIME('%w', {x}) AS INTEGER) + 6) % 7",
    "monthname": "CASE CAST(STRFTIME('%m', {x}) AS INTEGER) "
    + " ".join(f"WHEN {number} THEN '{name}'" for number, name in enumerate(MONTHS, start=1))
    + " END",
    "dayname": "CASE CAST(STRFTIME('%w', {x}) AS INTEGER) "
    + " ".join(f"WHEN {number} THEN '{name}'" for number, name in enumerate(_DAYS))
    + " END",
}
_PARTS = {
    "postgres": {
        **_EXTRACTED,
        "monthname": "TO_CHAR({x}, 'FMMonth')",
        "dayname": "TO_CHAR({x}, 'FMDay')",
    },
    "sqlite": _SQLITE,
    "duckdb": {**_EXTRACTED, "monthname": "MONTHNAME({x})", "dayname": "DAYNAME({x})"},
}


def find_unit(name: str) -> str:
    """The unit that a word denotes; empty for any other word.

    >>> find_unit("MM"), find_unit("years"), find_unit("price")
    ('month', 'year', '')
    """
    return _BY_NAME.get(name.lower().strip(), "")


def write_part(unit: str, node: exp.Expr, facts: Facts) -> exp.Expr | None:
    """One part of a date, in the target's SQL; None for a unit that it does not have."""
    template = _PARTS[facts.target].get(unit)
    if template is None:
        return None
    part = write(template, facts, x=as_time(node, facts))
    return exp.paren(part, copy=False) if isinstance(part, exp.Binary) else part
