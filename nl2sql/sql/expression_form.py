"""The form of an expression: equal for expressions that differ in aliases and spelling only.

As ``normal_form`` does for whole queries; in addition, the operands of ``+`` and ``*`` are sorted.
The caller says which table column a name refers to.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.sql.normal_form import FormWriter, UnresolvedForm

NameColumn = Callable[[exp.Column], str | None]
"""``schema.table.column`` of a column; None if it is unknown."""


def write_form(node: exp.Expr, name_column: NameColumn, dialect: str) -> str | None:
    """The form of the expression.

    None if a column is unknown, it contains a query, or it is nested too deeply.

    >>> from nl2sql.sql.parsing import parse_one
    >>> def form(text):
    ...     node = parse_one(f"SELECT {text}", "postgres").expressions[0]
    ...     return write_form(node, lambda column: f"s.t.{column.name}", "postgres")
    >>> form("SUM(o.qty * o.price)") == form("sum(price*(t.qty))"), form("a <> 1") == form("1 != a")
    (True, True)
    >>> form("a - b") == form("b - a")
    False
    """
    named: dict[int, str] = {}
    for column in find_all(node, exp.Column):
        if (name := name_column(column)) is None:
            return None
        named[id(column)] = name
    if next(find_all(node, exp.Query), None) is not None:
        return None
    try:
        return FormWriter(_rewrite(node, named), dialect).write()
    except (UnresolvedForm, RecursionError):
        return None


def list_conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that AND connects, whatever the brackets.

    >>> from nl2sql.sql.parsing import parse_one
    >>> where = parse_one("SELECT 1 FROM t WHERE (a AND (b OR c))", "postgres").args["where"]
    >>> [part.sql() for part in list_conjuncts(where.this)]
    ['a', '(b OR c)']
    """
    inner = condition.unnest()
    if isinstance(inner, exp.And):
        return [*list_conjuncts(inner.this), *list_conjuncts(inner.expression)]
    return [condition]


def _rewrite(node: exp.Expr, named: dict[int, str]) -> exp.Expr:
    """A copy with whole names for columns, without brackets, with sums and products sorted."""
    if isinstance(node, exp.Column):
        return exp.Column(this=exp.Identifier(this=named[id(node)], quoted=True))
    if isinstance(node, exp.Paren):
        return _rewrite(node.this, named)
    copy = type(node)(**{key: _rewrite_value(value, named) for key, value in node.args.items()})
    if isinstance(copy, exp.Add | exp.Mul):
        kind = type(copy)
        operands = sorted(copy.flatten(unnest=False), key=lambda operand: operand.sql())
        return reduce(lambda left, right: kind(this=left, expression=right), operands)
    return copy


def _rewrite_value(value: object, named: dict[int, str]) -> object:
    if isinstance(value, exp.Expr):
        return _rewrite(value, named)
    if isinstance(value, list):
        return [_rewrite_value(child, named) for child in value]
    return value
