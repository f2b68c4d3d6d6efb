"""Dates as text, and text as dates."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import as_time, read_text, replace_calls, write
from repair.normalize.facts import Facts
from repair.normalize.formats import read_format, write_format
from repair.normalize.units import write_part

# Function → the notation and the position of its format.
_TO_TEXT = {
    "DATE_FORMAT": ("mysql", 1),
    "STRFTIME": ("c", 0),
    "FORMAT_DATE": ("c", 0),
    "FORMAT_DATETIME": ("c", 0),
    "FORMAT_TIMESTAMP": ("c", 0),
    "TO_CHAR": ("oracle", 1),
    "FORMAT": ("dotnet", 1),
}
_TO_DATE = {
    "STR_TO_DATE": ("mysql", 1),
    "TO_DATE": ("oracle", 1),
    "PARSE_DATE": ("c", 0),
    "STRPTIME": ("c", 1),
}
_OWN = {"postgres": ("TO_CHAR", "TO_DATE"), "sqlite": ("STRFTIME",), "duckdb": ("STRFTIME",)}
_NAMES = {"B": "monthname", "A": "dayname"}


def date_formats(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``DATE_FORMAT``, ``strftime``, ``TO_CHAR``, ``FORMAT_DATE`` and their inverses.

    Does nothing if the target cannot express a part of the format.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        if name in _TO_TEXT and len(args) == 1 and name == "STRFTIME":
            return None if facts.target == "sqlite" else _write_text(call, facts, now=True)
        if len(args) != 2:
            return None
        return _write_text(call, facts) if name in _TO_TEXT else _write_date(call, facts)

    return replace_calls(tree, [*_TO_TEXT, *_TO_DATE], build)


def _write_text(call: exp.Anonymous, facts: Facts, *, now: bool = False) -> exp.Expr | None:
    name, args = call.name.upper(), call.expressions
    notation, place = _TO_TEXT[name]
    if now:
        args = [args[0], write("CURRENT_TIMESTAMP", facts)]
    if name == "STRFTIME" and read_text(args[0]) is None:
        place = 1
    text, value = read_text(args[place]), args[1 - place]
    is_own = name in _OWN[facts.target] and not now
    is_swapped = name == "STRFTIME" and place == 1 and facts.target == "sqlite"
    if is_own and not is_swapped and facts.kind_of(value) != "text":
        return None
    if is_own and facts.target == "sqlite" and not is_swapped:
        return None
    if is_own and name == "TO_CHAR" and not _is_date_format(text):
        return None
    parts = read_format(text, notation) if text is not None else None
    if not parts:
        return None
    if (read_text(value) or "").lower() == "now" and facts.target != "sqlite":
        value = write("CURRENT_TIMESTAMP", facts)
    if len(parts) == 1 and parts[0] in _NAMES and facts.target == "sqlite":
        return write_part(_NAMES[parts[0]], value, facts)
    if (format_text := write_format(parts, facts.target)) is None:
        return None
    literal = exp.Literal.string(format_text)
    if facts.target == "postgres":
        return write("TO_CHAR({x}, {f})", facts, x=as_time(value, facts), f=literal)
    if facts.target == "sqlite":
        return write("STRFTIME({f}, {x})", facts, x=value, f=literal)
    return write("STRFTIME({x}, {f})", facts, x=as_time(value, facts), f=literal)


def _write_date(call: exp.Anonymous, facts: Facts) -> exp.Expr | None:
    name, args = call.name.upper(), call.expressions
    if name in _OWN[facts.target] or (name == "STRPTIME" and facts.target == "duckdb"):
        return None
    notation, place = _TO_DATE[name]
    text, value = read_text(args[place]), args[1 - place]
    parts = read_format(text, notation) if text is not None else None
    if not parts or (facts.target == "sqlite" and parts != ("Y", " -", "m", " -", "d")):
        return None
    if facts.target == "sqlite":
        return write("DATE({x})", facts, x=value)
    if (format_text := write_format(parts, facts.target)) is None:
        return None
    literal = exp.Literal.string(format_text)
    if facts.target == "postgres":
        return write("TO_DATE({x}, {f})", facts, x=value, f=literal)
    return write("CAST(STRPTIME({x}, {f}) AS DATE)", facts, x=value, f=literal)


def _is_date_format(text: str | None) -> bool:
    return text is not None and any(sign in text.upper() for sign in ("Y", "MM", "DD", "HH"))
