"""Aggregates that concatenate texts."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import list_calls, write_operand
from repair.normalize.facts import Facts
from repair.normalize.readers import read_part, write_part

_NAMES = ("GROUP_CONCAT", "STRING_AGG", "LISTAGG", "WM_CONCAT")


def text_aggregates(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``GROUP_CONCAT``, ``STRING_AGG`` and ``LISTAGG``.

    SQLite's has no ORDER BY; with DISTINCT it has no separator either, which REPLACE inserts.
    """
    changed = False
    for call in list_calls(tree, _NAMES):
        node: exp.Expr = call
        parent = call.parent
        order = None
        if isinstance(parent, exp.WithinGroup) and facts.target != "duckdb":
            node, order = parent, parent.expression
        new = _build(call, order, facts)
        if new is not None:
            node.replace(read_part(new, facts.target))
            changed = True
    return changed


def _build(call: exp.Anonymous, order: exp.Expr | None, facts: Facts) -> str | None:
    """The call as SQL of the target; None if it need not change."""
    args = call.expressions
    if len(args) not in (1, 2):
        return None
    value, separator = args[0], args[1] if len(args) == 2 else exp.Literal.string(",")
    if isinstance(value, exp.Order):
        order, value = value, value.this
    is_distinct = isinstance(value, exp.Distinct)
    has_separator = len(args) == 2
    if isinstance(value, exp.Distinct):
        # All arguments follow DISTINCT.
        if len(value.expressions) == 2 and not has_separator:
            separator, has_separator = value.expressions[1], True
        elif len(value.expressions) > 1:
            return None
        value = value.expressions[0]
    if isinstance(separator, exp.Order):
        order, separator = separator, separator.this
    name = call.name.upper()
    if facts.target == "sqlite":
        is_own = name == "GROUP_CONCAT" and order is None and not (is_distinct and has_separator)
        return None if is_own else _write_sqlite(value, separator, is_distinct, facts)
    if facts.target == "duckdb":
        return None  # the target has all of them
    needs_cast = name != "STRING_AGG" and facts.kind_of(value) != "text"
    needs_cast |= facts.kind_of(value) not in ("", "text")
    is_own = name == "STRING_AGG" and not isinstance(call.parent, exp.WithinGroup)
    if is_own and has_separator and not needs_cast:
        return None
    return _write_postgres(value, separator, order, is_distinct, needs_cast, facts)


def _write_sqlite(value: exp.Expr, separator: exp.Expr, is_distinct: bool, facts: Facts) -> str:
    text, sign = write_operand(value, facts), write_part(separator, facts.target)
    if not is_distinct:
        return f"GROUP_CONCAT({text}, {sign})"
    joined = f"GROUP_CONCAT(DISTINCT {text})"
    return joined if sign == "','" else f"REPLACE({joined}, ',', {sign})"


def _write_postgres(
    value: exp.Expr,
    separator: exp.Expr,
    order: exp.Expr | None,
    is_distinct: bool,
    needs_cast: bool,
    facts: Facts,
) -> str:
    plain = write_operand(value, facts)
    text = f"CAST({plain} AS TEXT)" if needs_cast else plain
    if order is not None:
        for expression in order.expressions:
            # With DISTINCT, the order must be by the same expression.
            if is_distinct and expression.this == value:
                expression.set("this", read_part(text, facts.target))
        by = ", ".join(write_part(expression, facts.target) for expression in order.expressions)
    ordered = f" ORDER BY {by}" if order is not None else ""
    distinct = "DISTINCT " if is_distinct else ""
    return f"STRING_AGG({distinct}{text}, {write_part(separator, facts.target)}{ordered})"
