"""A figure for each of several values."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.derive.original import Original, has_aggregate


def grouped_values(original: Original) -> Iterator[exp.Expr]:
    """``SELECT avg(x) … WHERE y IN (1, 2)`` becomes ``SELECT avg(x), y … GROUP BY y``."""
    select = original.tree
    if not isinstance(select, exp.Select) or select.args.get("group") is not None:
        return
    where = select.args.get("where")
    if where is None or not all(map(has_aggregate, select.expressions)):
        return
    for node in find_all(where, exp.In, exp.Or):
        column = _find_column(node)
        if column is None or node.find_ancestor(exp.Select) is not select:
            continue
        draft = original.draft()
        draft.tree.append("expressions", column.copy())
        draft.tree.set("group", exp.Group(expressions=[column.copy()]))
        yield draft.tree


def _find_column(node: exp.Expr) -> exp.Column | None:
    """The column that must have one of several values."""
    if isinstance(node, exp.In):
        column = node.this if len(node.expressions) > 1 else None
    else:
        assert isinstance(node, exp.Or)
        sides = (node.left.unnest(), node.right.unnest())
        if not all(isinstance(side, exp.EQ) for side in sides):
            return None
        column = sides[0].this if sides[0].this == sides[1].this else None
    return column if isinstance(column, exp.Column) else None
