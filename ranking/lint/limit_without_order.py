"""LIMIT without ORDER BY: which rows come back is left to chance."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding


def limit_without_order(tree: exp.Expr) -> Finding | None:
    """A warning for the outermost query only.

    >>> import sqlglot
    >>> limit_without_order(sqlglot.parse_one("SELECT x FROM a LIMIT 3")).severity
    'warning'
    >>> limit_without_order(sqlglot.parse_one("SELECT x FROM a ORDER BY x LIMIT 3"))
    """
    if tree.args.get("limit") and not tree.args.get("order"):
        return Finding("limit_without_order", "warning", "LIMIT without ORDER BY.")
    return None
