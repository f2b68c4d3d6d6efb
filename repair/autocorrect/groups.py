"""Aggregates, and the columns beside them that are not grouped by."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all


def has_aggregate(node: exp.Expr) -> bool:
    """True if it contains an aggregate, apart from window functions and those of subqueries.

    >>> from nl2sql.sql.parsing import parse_one
    >>> tree = parse_one("SELECT a, 1 + SUM(b), (SELECT MAX(c) FROM t) FROM u", "postgres")
    >>> [has_aggregate(output) for output in tree.expressions]
    [False, True, False]
    """
    select = node if isinstance(node, exp.Select) else node.parent_select
    return any(
        function.parent_select is select and not isinstance(function.parent, exp.Window)
        for function in find_all(node, exp.AggFunc)
    )
