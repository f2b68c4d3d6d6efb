"""What the rows are grouped or ordered by, as an output."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from repair.derive.original import Original, has_aggregate


def added_outputs(original: Original) -> Iterator[exp.Expr]:
    """Shows also the group of ``SELECT count(*) … GROUP BY city``, or a figure in ORDER BY.

    Not if the question asks for as many columns as there are.
    """
    select = original.tree
    if not isinstance(select, exp.Select) or select.is_star:
        return
    if original.expected.columns and len(select.expressions) in original.expected.columns:
        return
    outputs = [output.unalias() for output in select.expressions]
    group, order = select.args.get("group"), select.args.get("order")
    found = list(group.expressions) if group is not None else []
    if order is not None:
        found += [by.this for by in order.expressions if has_aggregate(by.this)]
    aliases = {output.alias.lower() for output in select.expressions if output.alias}
    for expression in found:
        is_named = isinstance(expression, exp.Column) and expression.name.lower() in aliases
        if is_named or isinstance(expression, exp.Literal) or expression in outputs:
            continue
        draft = original.draft()
        draft.tree.append("expressions", expression.copy())
        yield draft.tree
