"""Comparisons that ignore case."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import list_inner_first, write
from repair.normalize.facts import Facts


def collations(tree: exp.Expr, facts: Facts) -> bool:
    """``a = 'x' COLLATE NOCASE`` becomes ``LOWER(a) = LOWER('x')``; LIKE becomes ILIKE.

    MySQL's and T-SQL's collations that end in ``_ci`` mean the same; others are removed.
    """
    changed = False
    for node in list_inner_first(tree, exp.Collate):
        name = node.expression.name.upper()
        is_own = (facts.target in ("sqlite", "duckdb") and name in ("NOCASE", "BINARY")) or (
            facts.target == "sqlite" and name == "RTRIM"
        )
        is_foreign = name in ("NOCASE", "BINARY", "RTRIM") or any(
            part in name for part in ("_CI", "_CS", "_BIN", "UTF8", "LATIN1", "GENERAL")
        )
        if is_own or not is_foreign:
            continue
        _replace(node, facts, folds=name == "NOCASE" or "_CI" in name)
        changed = True
    return changed


def _replace(node: exp.Collate, facts: Facts, *, folds: bool) -> None:
    parent, value = node.parent, node.this
    node.replace(value)
    if not folds:
        return
    if isinstance(parent, exp.Like) and facts.target != "sqlite":
        parent.replace(exp.ILike(this=parent.this, expression=parent.expression))
    elif isinstance(parent, exp.EQ | exp.NEQ):
        for key in ("this", "expression"):
            parent.set(key, write("LOWER({x})", facts, x=parent.args[key]))
    elif not isinstance(parent, exp.Like):
        value.replace(write("LOWER({x})", facts, x=value))
