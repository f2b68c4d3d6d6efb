"""Aggregates over conditions, as in MySQL and SQLite."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import list_calls, write
from repair.normalize.facts import Facts
from repair.normalize.readers import write_part

_CONDITIONS = (exp.Predicate, exp.Connector, exp.Not, exp.Boolean)
_SUMS = {"postgres": ("SUM", "AVG"), "duckdb": ("AVG",)}


def condition_counts(tree: exp.Expr, facts: Facts) -> bool:
    """``SUM(a > 1)`` becomes ``SUM(CASE WHEN a > 1 THEN 1 ELSE 0 END)``; so do COUNTIF and AVG.

    DISTINCT and a window are kept.
    """
    changed = False
    for call in list_calls(tree, ("SUM", "AVG", "COUNTIF", "COUNT_IF")):
        name, args = call.name.upper(), call.expressions
        if len(args) != 1:
            continue
        if name in ("COUNTIF", "COUNT_IF"):
            if facts.target != "duckdb":
                condition = write_part(args[0].unnest(), facts.target)
                call.replace(write("COUNT(CASE WHEN {x} THEN 1 END)", facts, x=condition))
                changed = True
        elif name in _SUMS.get(facts.target, ()) and _is_condition(args[0], facts):
            condition = write_part(args[0].unnest(), facts.target)
            branches = "CASE WHEN {x} THEN 1 ELSE 0 END"
            call.set("expressions", [write(branches, facts, x=condition)])
            changed = True
    return changed


def _is_condition(node: exp.Expr, facts: Facts) -> bool:
    inner = node.unnest()
    return isinstance(inner, _CONDITIONS) or facts.kind_of(inner) == "boolean"
