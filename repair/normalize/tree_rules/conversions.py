"""Casts written as calls."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import as_time, read_number, replace_calls, write
from repair.normalize.facts import Facts
from repair.normalize.formats import write_format
from repair.normalize.types import translate_type

_TYPES = {
    "TO_NUMBER": "NUMERIC",
    "TO_CHAR": "TEXT",
    "STR": "TEXT",
    "CSTR": "TEXT",
    "INT": "INTEGER",
    "CINT": "INTEGER",
    "TOSTRING": "TEXT",
    "TO_VARCHAR": "TEXT",
}
# T-SQL's numbers of date formats.
_STYLES = {
    23: ("Y", " -", "m", " -", "d"),
    101: ("m", " /", "d", " /", "Y"),
    103: ("d", " /", "m", " /", "Y"),
    104: ("d", " .", "m", " .", "Y"),
    108: ("H", " :", "M", " :", "S"),
    111: ("Y", " /", "m", " /", "d"),
    112: ("Y", "m", "d"),
    120: ("Y", " -", "m", " -", "d", "  ", "H", " :", "M", " :", "S"),
}
_TO_TEXT = {
    "postgres": "TO_CHAR({x}, '{f}')",
    "sqlite": "STRFTIME('{f}', {x})",
    "duckdb": "STRFTIME({x}, '{f}')",
}


def conversions(tree: exp.Expr, facts: Facts) -> bool:
    """``CONVERT(INT, a)``, ``CONVERT(a, SIGNED)``, ``TO_NUMBER(a)``, ``STR(a)`` become CAST.

    T-SQL's third argument is a date's format.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        args = call.expressions
        name = call.name.upper()
        if name != "CONVERT":
            is_single = len(args) == 1
            cast = f"CAST({{x}} AS {_TYPES[name]})"
            return write(cast, facts, x=args[0]) if is_single else None
        if len(args) not in (2, 3):
            return None
        kind, value = _read_type(args[0], facts), args[1]
        if not kind and len(args) == 2:
            kind, value = _read_type(args[1], facts), args[0]
        if not kind:
            return None
        parts = _STYLES.get(read_number(args[2]) or 0) if len(args) == 3 else None
        if parts and (text := write_format(parts, facts.target)):
            template = _TO_TEXT[facts.target].replace("{f}", text)
            return write(template, facts, x=as_time(value, facts))
        return write(f"CAST({{x}} AS {kind})", facts, x=value)

    return replace_calls(tree, [*_TYPES, "CONVERT"], build)


def _read_type(node: exp.Expr, facts: Facts) -> str:
    """The target's name of the type that an argument names; empty if it names none."""
    sizes = ""
    if isinstance(node, exp.Anonymous):
        sizes = f"({', '.join(str(expression) for expression in node.expressions)})"
    elif not isinstance(node, exp.Column | exp.Var | exp.DataType) or "." in node.sql():
        return ""
    name = node.name.upper() or node.sql().upper()
    kind = translate_type(name, facts.target, is_sized=bool(sizes))
    return f"{kind}{sizes}" if kind else ""
