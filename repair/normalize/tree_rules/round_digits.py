"""Numbers rounded or truncated to some digits."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import read_number, replace_calls, write
from repair.normalize.facts import Facts


def round_digits(tree: exp.Expr, facts: Facts) -> bool:
    """PostgreSQL rounds only a NUMERIC to digits: ``ROUND(CAST(x AS NUMERIC), 2)``.

    ``TRUNCATE(x, 2)`` becomes TRUNC; on SQLite, which lacks it, a cast to an integer.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        digits = read_number(args[1]) if len(args) == 2 else None
        if facts.target == "sqlite":
            return _cut(args[0], digits, facts) if digits is not None and name != "ROUND" else None
        if facts.target == "duckdb":
            is_other = name == "TRUNCATE"
            return exp.Anonymous(this="TRUNC", expressions=args) if is_other else None
        if len(args) == 1 and name == "TRUNCATE":
            return write("TRUNC({x})", facts, x=args[0])
        if digits is None or (name != "TRUNCATE" and facts.kind_of(args[0]) == "number"):
            return None
        function = "ROUND" if name == "ROUND" else "TRUNC"
        is_number = facts.kind_of(args[0]) == "number"
        value = args[0] if is_number else write("CAST({x} AS NUMERIC)", facts, x=args[0])
        return write(f"{function}({{x}}, {{n}})", facts, x=value, n=args[1])

    return replace_calls(tree, ("ROUND", "TRUNC", "TRUNCATE"), build)


def _cut(value: exp.Expr, digits: int, facts: Facts) -> exp.Expr | None:
    if digits < 0:
        return None
    if not digits:
        return write("CAST({x} AS INTEGER)", facts, x=value)
    size = 10**digits
    return write(f"(CAST({{x}} * {size} AS INTEGER) / {size}.0)", facts, x=value)
