"""NULL in quotes."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import list_inner_first, read_text
from repair.normalize.facts import Facts

_NOTHING = frozenset({"null", "none", "nan", ""})


def null_text(tree: exp.Expr, facts: Facts) -> bool:
    """``salary = 'null'`` becomes ``salary IS NULL`` if the column cannot contain text.

    Not on SQLite, where any column can.
    """
    if facts.target == "sqlite":
        return False
    changed = False
    for node in list_inner_first(tree, exp.EQ, exp.NEQ):
        text = read_text(node.right)
        if text is None or text.lower() not in _NOTHING or not isinstance(node.left, exp.Column):
            continue
        if facts.kind_of(node.left) in ("", "text", "other"):
            continue
        test: exp.Expr = exp.Is(this=node.left, expression=exp.Null())
        node.replace(exp.Not(this=test) if isinstance(node, exp.NEQ) else test)
        changed = True
    return changed
