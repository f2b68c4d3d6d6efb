"""Finds comparisons of a column with a literal, in any form."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all

_OPERATORS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)


def list_literal_comparisons(tree: exp.Expr) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """Pairs of a column and a literal that an operator, IN or BETWEEN compares.

    >>> import sqlglot
    >>> from nl2sql.sql.parsing import parse_one
    >>> tree = parse_one("SELECT 1 FROM t WHERE a = 'x' AND b IN (1, 2)", "postgres")
    >>> [(column.name, literal.this) for column, literal in list_literal_comparisons(tree)]
    [('a', 'x'), ('b', '1'), ('b', '2')]
    """
    for node in find_all(tree, *_OPERATORS, exp.In, exp.Between):
        if isinstance(node, exp.In):
            pairs = [(node.this, expression) for expression in node.expressions]
        elif isinstance(node, exp.Between):
            pairs = [(node.this, node.args["low"]), (node.this, node.args["high"])]
        else:
            left, right = node.this, node.args["expression"]
            pairs = [(left, right), (right, left)]
        for column, literal in pairs:
            if isinstance(column, exp.Column) and isinstance(literal, exp.Literal):
                yield column, literal
