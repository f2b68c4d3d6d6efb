"""ALL and ANY, which SQLite lacks."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.facts import Facts

_GREATER = (exp.GT, exp.GTE)
_LESS = (exp.LT, exp.LTE)


def quantifiers(tree: exp.Expr, facts: Facts) -> bool:
    """``a > ALL (SELECT b …)`` becomes ``a > (SELECT MAX(b) …)``, ``a = ANY (…)`` becomes IN."""
    if facts.target != "sqlite":
        return False
    changed = False
    for node in list(find_all(tree, exp.All, exp.Any)):
        parent, query = node.parent, node.this.unnest()
        if not isinstance(parent, exp.Binary) or not isinstance(query, exp.Select):
            continue
        is_all = isinstance(node, exp.All)
        within = exp.In(this=parent.left, query=exp.Subquery(this=query))
        if isinstance(parent, exp.EQ) and not is_all:
            parent.replace(within)
        elif isinstance(parent, exp.NEQ) and is_all:
            parent.replace(exp.Not(this=within))
        elif isinstance(parent, _GREATER + _LESS) and _is_plain(query):
            call = "MAX" if isinstance(parent, _GREATER) is is_all else "MIN"
            output = query.expressions[0].unalias()
            query.set("expressions", [exp.Anonymous(this=call, expressions=[output])])
            node.replace(exp.Subquery(this=query))
        else:
            continue
        changed = True
    return changed


def _is_plain(query: exp.Select) -> bool:
    """Whether an aggregate may replace the only output."""
    limits = any(query.args.get(key) for key in ("group", "limit", "distinct", "having"))
    return len(query.expressions) == 1 and not limits and not query.find(exp.Anonymous)
