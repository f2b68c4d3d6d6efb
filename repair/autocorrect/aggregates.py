"""Finds the aggregates and columns of an expression that belong to its own SELECT."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all


def list_aggregates(node: exp.Expr) -> list[exp.AggFunc]:
    """The aggregates of the node, without window functions and those of subqueries.

    >>> import sqlglot
    >>> from nl2sql.sql.parsing import parse_one
    >>> tree = parse_one("SELECT a, 1 + SUM(b), (SELECT MAX(c) FROM t) FROM u", "postgres")
    >>> [[node.sql() for node in list_aggregates(output)] for output in tree.expressions]
    [[], ['SUM(b)'], []]
    """
    select = node if isinstance(node, exp.Select) else node.parent_select
    return [
        aggfunc
        for aggfunc in find_all(node, exp.AggFunc)
        if aggfunc.parent_select is select and not isinstance(aggfunc.parent, exp.Window)
    ]


def has_aggregate(node: exp.Expr) -> bool:
    """True if the node contains an aggregate."""
    return bool(list_aggregates(node))


def list_bare_columns(node: exp.Expr) -> list[exp.Column]:
    """The columns of the node outside aggregates, window functions and subqueries.

    >>> import sqlglot
    >>> from nl2sql.sql.parsing import parse_one
    >>> tree = parse_one("SELECT a + SUM(b) FROM t", "postgres")
    >>> [column.sql() for column in list_bare_columns(tree.expressions[0])]
    ['a']
    """
    select = node.parent_select
    return [
        column
        for column in find_all(node, exp.Column)
        if column.parent_select is select
        and column.find_ancestor(exp.AggFunc, exp.Select) is select
        and not (isinstance(column.parent, exp.Window))
    ]
