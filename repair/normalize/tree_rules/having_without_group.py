"""HAVING instead of WHERE."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import list_calls
from repair.normalize.facts import Facts

_AGGREGATES = ("COUNT", "SUM", "AVG", "MIN", "MAX", "TOTAL", "STRING_AGG", "GROUP_CONCAT")


def having_without_group(tree: exp.Expr, facts: Facts) -> bool:
    """``SELECT a FROM t HAVING a > 1`` becomes ``SELECT a FROM t WHERE a > 1``.

    Only without aggregates: otherwise HAVING filters the single group of all rows.
    """
    changed = False
    for select in find_all(tree, exp.Select):
        having = select.args.get("having")
        if having is None or select.args.get("group") or any(list_calls(select, _AGGREGATES)):
            continue
        select.set("having", None)
        select.where(having.this, copy=False)
        changed = True
    return changed
