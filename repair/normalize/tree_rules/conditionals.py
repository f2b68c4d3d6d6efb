"""Conditional expressions written as calls."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.normalize.calls import replace_calls, write
from repair.normalize.facts import Facts


def conditionals(tree: exp.Expr, facts: Facts) -> bool:
    """``IF(c, a, b)``, ``IIF``, Oracle's ``DECODE`` and ``NVL2`` become CASE."""
    changed = False
    for node in list(find_all(tree, exp.If))[::-1]:
        # sqlglot reads IF( as this node; the branches of a CASE are such nodes, too.
        if not isinstance(node.parent, exp.Case) or node.arg_key != "ifs":
            node.replace(_build_case(node.this, node.args["true"], node.args.get("false")))
            changed = True

    def build(call: exp.Anonymous) -> exp.Expr | None:
        args = call.expressions
        name = call.name.upper()
        if name == "IIF" and facts.target == "sqlite":
            return None
        if name in ("IF", "IIF") and len(args) in (2, 3):
            return _build_case(args[0], args[1], args[2] if len(args) == 3 else None)
        if name == "NVL2" and len(args) == 3:
            return write("CASE WHEN {x} IS NULL THEN {z} ELSE {y} END", facts, **_name(args))
        if name == "DECODE" and len(args) > 2:
            return _build_decode(args)
        return None

    return replace_calls(tree, ("IF", "IIF", "NVL2", "DECODE"), build) or changed


def _build_case(condition: exp.Expr, then: exp.Expr, otherwise: exp.Expr | None) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=then)], default=otherwise)


def _build_decode(args: list[exp.Expr]) -> exp.Expr:
    value, rest = args[0], args[1:]
    default = rest.pop() if len(rest) % 2 else None
    branches = [
        exp.If(this=found, true=then) for found, then in zip(rest[::2], rest[1::2], strict=True)
    ]
    return exp.Case(this=value, ifs=branches, default=default)


def _name(args: list[exp.Expr]) -> dict[str, exp.Expr]:
    return dict(zip("xyz", args, strict=False))
