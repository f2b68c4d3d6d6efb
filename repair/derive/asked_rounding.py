"""Figures that the question wants rounded."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.derive.original import Original


def asked_rounding(original: Original) -> Iterator[exp.Expr]:
    """Rounds averages and quotients in the result as "rounded to two decimals" says.

    PostgreSQL rounds only decimals to a number of places.
    """
    decimals = original.expected.decimals
    if decimals is None:
        return
    draft = original.draft()
    changed = False
    for level in original.outermost:
        for output in level.select.expressions:
            value = output.this if isinstance(output, exp.Alias) else output
            is_figure = any(True for _ in find_all(value, exp.Avg, exp.Div))
            if not is_figure or any(True for _ in find_all(value, exp.Round)):
                continue
            copy = draft.of(value)
            figure = copy.copy()
            if original.visible.dialect == "postgres":
                figure = exp.cast(figure, "decimal", copy=False)
            rounded = exp.Round(this=figure, decimals=exp.Literal.number(decimals))
            copy.replace(rounded)
            changed = True
    if changed:
        yield draft.tree
