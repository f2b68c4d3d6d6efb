"""Booleans written as numbers, and numbers written as booleans."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import read_number, write
from repair.normalize.facts import Facts

_NUMBERS = frozenset({"integer", "number"})


def booleans(tree: exp.Expr, facts: Facts) -> bool:
    """On PostgreSQL, ``active = 1`` becomes ``active = TRUE`` if the column is a boolean.

    ``flag = TRUE`` becomes ``flag = 1`` if it is a number, and a number as a condition is compared
    with 0.
    """
    if facts.target != "postgres":
        return False
    changed = False
    for node in list(find_all(tree, exp.EQ, exp.NEQ, exp.Is)):
        kind, number = facts.kind_of(node.left), read_number(node.right)
        if kind == "boolean" and number in (0, 1):
            node.set("expression", exp.Boolean(this=bool(number)))
            changed = True
        elif kind in _NUMBERS and isinstance(node.right, exp.Boolean):
            literal = exp.Literal.number(int(node.right.this))
            node.replace(exp.EQ(this=node.left, expression=literal))
            changed = True
    for condition in _list_conditions(tree):
        if facts.kind_of(condition) in _NUMBERS and isinstance(condition, exp.Column | exp.Literal):
            condition.replace(write("{x} <> 0", facts, x=condition))
            changed = True
    return changed


def _list_conditions(tree: exp.Expr) -> list[exp.Expr]:
    """The expressions that are used as conditions."""
    found = [node.this for node in find_all(tree, exp.Where, exp.Having, exp.Not)]
    for node in find_all(tree, exp.And, exp.Or):
        found += [node.left, node.right]
    for case in find_all(tree, exp.Case):
        if case.this is None:
            found += [branch.this for branch in case.args["ifs"]]
    return found
