"""IS between two values."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import list_inner_first
from repair.normalize.facts import Facts


def is_values(tree: exp.Expr, facts: Facts) -> bool:
    """``a IS 'x'`` becomes ``a = 'x'``, ``a IS NOT 'x'`` becomes ``a <> 'x'``; not on SQLite."""
    if facts.target == "sqlite":
        return False
    changed = False
    for node in list_inner_first(tree, exp.Is):
        if not isinstance(node.expression, exp.Literal | exp.Column):
            continue
        parent = node.parent
        if isinstance(parent, exp.Not):
            parent.replace(exp.NEQ(this=node.this, expression=node.expression))
        else:
            node.replace(exp.EQ(this=node.this, expression=node.expression))
        changed = True
    return changed
