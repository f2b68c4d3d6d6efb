"""Text compared with numbers, as SQLite and MySQL do."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import list_calls, write
from repair.normalize.facts import Facts

_ORDERED = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_SUMMED = ("SUM", "AVG")
_NUMBERS = frozenset({"integer", "number", "float"})


def text_numbers(tree: exp.Expr, facts: Facts) -> bool:
    """``year = 2014`` becomes ``year = '2014'`` if the column is text.

    If the order matters, or the value is summed, the column is cast. Not on SQLite, which compares
    both.
    """
    if facts.target == "sqlite":
        return False
    changed = False
    for call in list_calls(tree, _SUMMED):
        if len(call.expressions) == 1:
            changed |= _cast(call.expressions[0], facts)
    for node in list(find_all(tree, exp.EQ, exp.NEQ, *_ORDERED)):
        left, right = facts.kind_of(node.left), facts.kind_of(node.right)
        if left == "text" and right in _NUMBERS and isinstance(node.left, exp.Column):
            changed |= _adapt(node.left, node.right, facts, isinstance(node, _ORDERED))
        elif right == "text" and left in _NUMBERS and isinstance(node.right, exp.Column):
            changed |= _adapt(node.right, node.left, facts, isinstance(node, _ORDERED))
    for within in list(find_all(tree, exp.In)):
        if facts.kind_of(within.this) == "text" and isinstance(within.this, exp.Column):
            for value in within.expressions:
                changed |= _quote(value)
        if isinstance(query := within.args.get("query"), exp.Subquery):
            changed |= _adapt_query(within.this, query.this, facts)
    for between in list(find_all(tree, exp.Between)):
        if facts.kind_of(between.args["low"]) in _NUMBERS:
            changed |= _cast(between.this, facts)
    return changed


def _adapt(text: exp.Expr, number: exp.Expr, facts: Facts, ordered: bool) -> bool:
    """Makes a text and a number comparable."""
    if ordered:
        return _cast(text, facts)
    if not _quote(number):
        number.replace(write("CAST({x} AS TEXT)", facts, x=number))
    return True


def _adapt_query(value: exp.Expr, query: exp.Expr, facts: Facts) -> bool:
    """Makes a value and the output of a subquery comparable, as text."""
    if not isinstance(query, exp.Select) or len(query.expressions) != 1:
        return False
    output = query.expressions[0].unalias()
    kinds = (facts.kind_of(value), facts.kind_of(output))
    if "text" not in kinds or not set(kinds) & _NUMBERS:
        return False
    number = output if kinds[0] == "text" else value
    number.replace(write("CAST({x} AS TEXT)", facts, x=number))
    return True


def _quote(value: exp.Expr) -> bool:
    if not isinstance(value, exp.Literal) or value.is_string:
        return False
    value.replace(exp.Literal.string(str(value.this)))
    return True


def _cast(value: exp.Expr, facts: Facts) -> bool:
    """Casts a column of text to a number."""
    if not isinstance(value, exp.Column) or facts.kind_of(value) != "text":
        return False
    kind = "DOUBLE" if facts.target == "duckdb" else "NUMERIC"
    value.replace(write(f"CAST({{x}} AS {kind})", facts, x=value))
    return True
