"""The other end of an order."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.derive.original import Original


def reversed_order(original: Original) -> Iterator[exp.Expr]:
    """``ORDER BY age`` becomes ``ORDER BY age DESC`` and the reverse; ``max`` becomes ``min``."""
    expected = original.expected
    for order in list(find_all(original.tree, exp.Order)):
        by = order.expressions[0]
        has_limit = order.parent is not None and order.parent.args.get("limit") is not None
        wanted = expected.highest if has_limit else expected.descending
        if isinstance(by, exp.Ordered) and wanted is not bool(by.args.get("desc")):
            draft = original.draft()
            copy = draft.of(by)
            copy.set("desc", not by.args.get("desc"))
            yield draft.tree
    for figure in list(find_all(original.tree, exp.Max, exp.Min)):
        if expected.highest is isinstance(figure, exp.Max):
            continue
        draft = original.draft()
        other = exp.Min if isinstance(figure, exp.Max) else exp.Max
        draft.of(figure).replace(other(this=figure.this.copy()))
        yield draft.tree
