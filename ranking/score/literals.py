"""Finds the literals of a query's conditions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from ranking.query import ColumnUse, Query

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.ILike)


@dataclass(frozen=True, slots=True)
class Condition:
    """A literal with which a query compares something; ``use`` is the column, if it is known."""

    text: str
    is_string: bool
    use: ColumnUse | None


def list_conditions(query: Query) -> Iterator[Condition]:
    """All literals that an operator, IN or BETWEEN compares with a column or an expression."""
    for node in query.find_all(*_COMPARISONS, exp.In, exp.Between):
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
                yield Condition(node.this, node.is_string, query.resolve(left))
