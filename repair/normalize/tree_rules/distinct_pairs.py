"""COUNT(DISTINCT …) of several columns."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import list_calls, write_operand
from repair.normalize.facts import Facts
from repair.normalize.readers import read_part


def distinct_pairs(tree: exp.Expr, facts: Facts) -> bool:
    """``COUNT(DISTINCT a, b)`` counts rows ``(a, b)``, on SQLite texts of both.

    ``COUNT(t.*)`` becomes ``COUNT(*)`` on SQLite.
    """
    changed = False
    for call in list_calls(tree, ("COUNT",)):
        args = call.expressions
        inner = args[0] if len(args) == 1 else None
        if isinstance(inner, exp.Distinct) and len(inner.expressions) > 1:
            texts = [write_operand(expression, facts) for expression in inner.expressions]
            is_sqlite = facts.target == "sqlite"
            row = " || '|' || ".join(texts) if is_sqlite else f"({', '.join(texts)})"
            call.replace(read_part(f"COUNT(DISTINCT {row})", facts.target))
            changed = True
        elif facts.target == "sqlite" and isinstance(inner, exp.Column) and inner.is_star:
            call.set("expressions", [exp.Star()])
            changed = True
    return changed
