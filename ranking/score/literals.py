"""Finds the literals of a query's conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from ranking.query import ColumnUse, Query

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike)


@dataclass(frozen=True, slots=True)
class Condition:
    """A literal with which a query compares something; ``use`` is the column, if it is known.

    ``is_shown``: a text that is stored in a column if the query finds anything.
    """

    text: str
    is_string: bool
    use: ColumnUse | None
    is_shown: bool = False


def list_conditions(query: Query) -> Iterator[Condition]:
    """All literals that an operator, IN or BETWEEN compares with a column or an expression."""
    needed = {id(node) for node in _list_needed(query.tree)}
    for node in query.find_all(*_COMPARISONS, exp.In, exp.Between):
        is_needed = id(node) in needed
        left = node.this
        if isinstance(node, exp.In):
            compared = node.expressions
        elif isinstance(node, exp.Between):
            compared = [node.args["low"], node.args["high"]]
        elif isinstance(left, exp.Literal):
            left, compared = node.expression, [left]
        else:
            compared = [node.expression]
        for node in compared:
            if isinstance(node, exp.Literal):
                is_shown = is_needed and node.is_string
                yield Condition(node.this, node.is_string, query.resolve(left), is_shown)


def _list_needed(tree: exp.Expr | None) -> Iterator[exp.Expr]:
    """The equations in WHERE without which a SELECT, or one inside them, finds no row."""
    if isinstance(tree, exp.Subquery):
        tree = tree.this
    if not isinstance(tree, exp.Select) or (where := tree.args.get("where")) is None:
        return
    conditions = where.this.flatten() if isinstance(where.this, exp.And) else [where.this]
    for condition in conditions:
        if isinstance(condition, exp.EQ):
            yield condition
            yield from _list_needed(condition.expression)
        elif isinstance(condition, exp.In):
            yield from _list_needed(condition.args.get("query"))
