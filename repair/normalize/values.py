"""Rules on values: what the types of the columns say about texts, numbers, dates and booleans."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import (
    list_calls,
    read_number,
    replace_calls,
)
from repair.normalize.facts import NUMERIC, TEMPORAL, Facts
from repair.normalize.readers import write

# The places of values, in which names are unlikely.
_VALUES = (exp.Binary, exp.In, exp.Between, exp.Anonymous, exp.Case, exp.If, exp.Tuple, exp.Func)


def double_quoted_text(tree: exp.Expr, facts: Facts) -> bool:
    """``name = "Smith"`` becomes ``name = 'Smith'`` if nothing has the name ``Smith``.

    ``"t.name"`` becomes ``t.name``. Not on SQLite, which has the same rule itself.
    """
    if facts.target == "sqlite":
        return False
    # Names of tables, aliases and their columns.
    given = (it for it in find_all(tree, exp.Identifier) if not isinstance(it.parent, exp.Column))
    known = facts.names | {identifier.name.lower() for identifier in given}
    changed = False
    for column in list(find_all(tree, exp.Column)):
        is_quoted = isinstance(column.this, exp.Identifier) and column.this.quoted
        if not is_quoted or column.table or column.name.lower() in known:
            continue
        table, _, name = column.name.partition(".")
        if name.lower() in known and (table.lower() in known or not facts.tables):
            column.replace(exp.column(name, table=table))
            changed = True
        elif isinstance(column.parent, _VALUES) and not _is_compared(column):
            column.replace(exp.Literal.string(column.name))
            changed = True
    return changed


def _is_compared(column: exp.Column) -> bool:
    """Whether it is the left side of a comparison, which is usually a name."""
    parent = column.parent
    is_left = isinstance(parent, exp.Predicate) and parent.this is column
    other = parent.args.get("expression") if parent else None
    return is_left and not isinstance(other, exp.Column)


_TEXT_CALLS = (
    "SUBSTR SUBSTRING LEFT RIGHT UPPER LOWER LENGTH TRIM REPLACE SPLIT_PART STRPOS".split()
)
_TEXT_NODES = (exp.Substring, exp.Trim, exp.StrPosition, exp.Like, exp.ILike)


def texts(tree: exp.Expr, facts: Facts) -> bool:
    """``SUBSTR(day, 1, 4)`` becomes ``SUBSTR(CAST(day AS TEXT), 1, 4)``; SQLite casts by itself.

    So does ``day LIKE '2024%'``.
    """
    if facts.target == "sqlite":
        return False
    values = [call.expressions[0] for call in list_calls(tree, _TEXT_CALLS) if call.expressions]
    values += [node.this for node in find_all(tree, *_TEXT_NODES)]
    changed = False
    for value in values:
        if facts.kind_of(value) in NUMERIC | TEMPORAL | {"boolean"}:
            value.replace(write("CAST({x} AS TEXT)", facts, x=value))
            changed = True
    return changed


_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)


def numbers(tree: exp.Expr, facts: Facts) -> bool:
    """PostgreSQL rounds only a NUMERIC to digits: ``ROUND(CAST(x AS NUMERIC), 2)``.

    And a condition is no number there: ``SUM(a > 1)`` becomes a sum over CASE.
    """

    def build(call: exp.Anonymous) -> exp.Expr | None:
        name, args = call.name.upper(), call.expressions
        if name == "ROUND":
            if len(args) != 2 or facts.kind_of(args[0]) == "number":
                return None
            return write("ROUND(CAST({x} AS NUMERIC), {n})", facts, x=args[0], n=args[1])
        condition = args[0].unnest() if len(args) == 1 else None
        is_condition = isinstance(condition, _CONDITIONS) or facts.kind_of(condition) == "boolean"
        if condition is None or not is_condition:
            return None
        counted = f"{name}(CASE WHEN {{x:bare}} THEN 1 ELSE 0 END)"
        return write(counted, facts, x=condition)

    return facts.target == "postgres" and replace_calls(tree, ("ROUND", "SUM", "AVG"), build)


def booleans(tree: exp.Expr, facts: Facts) -> bool:
    """On PostgreSQL, ``active = 1`` becomes ``active = TRUE`` if the column is a boolean.

    ``flag = TRUE`` becomes ``flag = 1`` if it is a number.
    """
    if facts.target != "postgres":
        return False
    changed = False
    for node in list(find_all(tree, exp.EQ, exp.NEQ, exp.Is)):
        kind, number = facts.kind_of(node.left), read_number(node.right)
        if kind == "boolean" and number in (0, 1):
            node.set("expression", exp.Boolean(this=bool(number)))
            changed = True
        elif kind in NUMERIC and isinstance(node.right, exp.Boolean):
            literal = exp.Literal.number(int(node.right.this))
            node.replace(exp.EQ(this=node.left, expression=literal))
            changed = True
    return changed


_ORDERED = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_SUMMED = ("SUM", "AVG")


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
        if left == "text" and right in NUMERIC and isinstance(node.left, exp.Column):
            changed |= _adapt(node.left, node.right, facts, isinstance(node, _ORDERED))
        elif right == "text" and left in NUMERIC and isinstance(node.right, exp.Column):
            changed |= _adapt(node.right, node.left, facts, isinstance(node, _ORDERED))
    for within in list(find_all(tree, exp.In)):
        if facts.kind_of(within.this) == "text" and isinstance(within.this, exp.Column):
            for value in within.expressions:
                changed |= _quote(value)
    for between in list(find_all(tree, exp.Between)):
        if facts.kind_of(between.args["low"]) in NUMERIC:
            changed |= _cast(between.this, facts)
    return changed


def _adapt(text: exp.Expr, number: exp.Expr, facts: Facts, ordered: bool) -> bool:
    """Makes a text and a number comparable."""
    if ordered:
        return _cast(text, facts)
    if not _quote(number):
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
