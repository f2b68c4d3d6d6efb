"""The greatest and least of several values of a row."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import read_number, replace_calls
from repair.normalize.facts import Facts

_SQLITE = {"GREATEST": "MAX", "LEAST": "MIN"}
_OTHERS = {"MAX": "GREATEST", "MIN": "LEAST"}


def extremes(tree: exp.Expr, facts: Facts) -> bool:
    """``GREATEST(a, b)`` becomes ``MAX(a, b)`` on SQLite, and vice versa on the others."""
    names = _SQLITE if facts.target == "sqlite" else _OTHERS

    def build(call: exp.Anonymous) -> exp.Expr | None:
        args = call.expressions
        if len(args) < 2:
            return None
        if facts.target == "duckdb" and read_number(args[1]) is not None:
            return None  # DuckDB's MAX(x, n), the n greatest values
        return exp.Anonymous(this=names[call.name.upper()], expressions=args)

    return replace_calls(tree, names, build)
