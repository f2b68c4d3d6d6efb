"""A comparison with the values of several rows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.derive.original import Original, has_aggregate


def compared_extremes(original: Original) -> Iterator[exp.Expr]:
    """``x > (SELECT y …)`` becomes ``x > (SELECT max(y) …)``; with "any" or "some", ``min``."""
    is_any = bool(original.words & {"any", "some"})
    for node in find_all(original.tree, exp.GT, exp.GTE, exp.LT, exp.LTE):
        inner = node.expression.this if isinstance(node.expression, exp.Subquery) else None
        if not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
            continue
        output = inner.expressions[0].unalias()
        if has_aggregate(output) or inner.args.get("limit") is not None:
            continue
        is_above = isinstance(node, exp.GT | exp.GTE)
        figure = exp.Max if is_above is not is_any else exp.Min
        draft = original.draft()
        draft.of(inner).set("expressions", [figure(this=output.copy())])
        yield draft.tree
