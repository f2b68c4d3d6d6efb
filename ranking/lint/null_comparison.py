"""A comparison with NULL by an operator, which is never true."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.types import Finding


def null_comparison(tree: exp.Expr) -> Finding | None:
    """An error for ``= NULL`` and ``<> NULL``.

    >>> import sqlglot
    >>> null_comparison(sqlglot.parse_one("SELECT 1 FROM a WHERE x = NULL")).severity
    'error'
    >>> null_comparison(sqlglot.parse_one("SELECT 1 FROM a WHERE x IS NULL"))
    """
    for comparison in tree.find_all(exp.EQ, exp.NEQ):
        if isinstance(comparison.left, exp.Null) or isinstance(comparison.right, exp.Null):
            return Finding("null_comparison", "error", f"{comparison.sql()} is never true.")
    return None
