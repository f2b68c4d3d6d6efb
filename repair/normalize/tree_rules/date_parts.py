"""Parts of a date."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import list_inner_first, read_text, read_word, replace_calls, write
from repair.normalize.facts import Facts
from repair.normalize.units import find_unit, write_part

_UNITS = {
    **{name: name.lower() for name in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")},
    "QUARTER": "quarter",
    "WEEK": "week",
    "WEEKOFYEAR": "week",
    "DAYOFMONTH": "day",
    "DAYOFYEAR": "doy",
    "DAYOFWEEK": "dayofweek",
    "WEEKDAY": "weekday",
    "DAYNAME": "dayname",
    "MONTHNAME": "monthname",
}
_NAMED = {"month": "monthname", "dayofweek": "dayname", "weekday": "dayname"}
_TEMPORAL = frozenset({"date", "timestamp"})


def date_parts(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``YEAR(d)``, ``DATEPART(year, d)``, ``EXTRACT(YEAR FROM d)``.

    The year of a column that contains years, not dates, is the column itself.
    """
    changed = False
    for node in list_inner_first(tree, exp.Extract):
        if (new := _build_extract(node, facts)) is not None:
            node.replace(new)
            changed = True

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        if name in _UNITS:
            if len(args) != 1 or (facts.target == "duckdb" and not _needs_cast(args[0], facts)):
                return None
            return _build_part(_UNITS[name], args[0], facts)
        if len(args) != 2:
            return None
        unit = find_unit(read_word(args[0]))
        if facts.target == "duckdb" and read_text(args[0]) and not _needs_cast(args[1], facts):
            return None
        if name == "DATENAME":
            unit = _NAMED.get(unit, unit)
        return _build_part(unit, args[1], facts) if unit else None

    return replace_calls(tree, [*_UNITS, "DATEPART", "DATE_PART", "DATENAME"], build) or changed


def _build_extract(node: exp.Extract, facts: Facts) -> exp.Expr | None:
    """The replacement of an EXTRACT that the target lacks; None for one that it has."""
    unit = find_unit(read_word(node.this))
    is_own = str(node.this).upper() in ("DOY", "DOW", "ISODOW", "EPOCH") or unit not in (
        "dayofweek", "weekday", "doy", "monthname", "dayname",
    )  # fmt: skip
    value = node.expression
    if facts.target != "sqlite" and is_own and not _needs_cast(value, facts):
        return None
    return _build_part(unit, value, facts) if unit else None


def _build_part(unit: str, value: exp.Expr, facts: Facts) -> exp.Expr | None:
    kind = facts.kind_of(value)
    is_year = "year" in value.name.lower() and isinstance(value, exp.Column)
    if unit == "year" and kind in ("integer", "number", "float"):
        return value
    if unit == "year" and kind == "text" and is_year:
        return write("CAST({x} AS INTEGER)", facts, x=value)
    return write_part(unit, value, facts)


def _needs_cast(value: exp.Expr, facts: Facts) -> bool:
    """Whether the value is known not to be a date."""
    kind = facts.kind_of(value)
    return bool(kind) and kind not in _TEMPORAL and kind not in ("interval", "other")
