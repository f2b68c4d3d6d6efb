"""Other dialects' names for COALESCE."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import replace_calls, write
from repair.normalize.facts import Facts

_NAMES = ("IFNULL", "NVL", "ISNULL", "ZEROIFNULL")


def null_functions(tree: exp.Expr, facts: Facts) -> bool:
    """``IFNULL(a, b)``, ``NVL(a, b)``, ``ISNULL(a, b)`` become COALESCE, ``ISNULL(a)`` IS NULL."""

    def build(call: exp.Anonymous) -> exp.Expr | None:
        args = call.expressions
        name = call.name.upper()
        if name == "IFNULL" and facts.target != "postgres":
            return None  # the other targets have it
        if name == "ZEROIFNULL" and len(args) == 1:
            return write("COALESCE({x}, 0)", facts, x=args[0])
        if name == "ISNULL" and len(args) == 1:
            return exp.paren(write("{x} IS NULL", facts, x=args[0]), copy=False)
        if name != "ZEROIFNULL" and len(args) == 2:
            return exp.Anonymous(this="COALESCE", expressions=args)
        return None

    return replace_calls(tree, _NAMES, build)
