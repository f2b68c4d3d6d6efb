"""Repeated rows of the result."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from repair.derive.original import Original, has_aggregate


def toggled_distinct(original: Original) -> Iterator[exp.Expr]:
    """Adds DISTINCT to the outermost SELECT, or takes it out.

    Not against the question: it is added where a join repeats rows, or the question asks for it.
    """
    select = original.tree
    if not isinstance(select, exp.Select):
        return
    has, is_asked = select.args.get("distinct") is not None, original.expected.distinct
    if has and is_asked:
        return
    if not has and (any(map(has_aggregate, select.expressions)) or select.args.get("group")):
        return
    if not has and not is_asked and not select.args.get("joins"):
        return
    draft = original.draft()
    draft.tree.set("distinct", None if has else exp.Distinct())
    yield draft.tree
