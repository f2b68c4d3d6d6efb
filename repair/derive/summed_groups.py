"""Groups whose total, average or extreme is compared with a number, instead of single rows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.words import split_words
from repair.derive.original import Original, drop_condition, has_aggregate, list_conjuncts

_FIGURES: dict[str, type[exp.AggFunc]] = {
    "total": exp.Sum,
    "sum": exp.Sum,
    "average": exp.Avg,
    "maximum": exp.Max,
    "minimum": exp.Min,
}


def summed_groups(original: Original) -> Iterator[exp.Expr]:
    """``WHERE stock > 20`` becomes ``GROUP BY … HAVING sum(stock) > 20`` for "a total stock".

    The groups are the outputs. An order by the column becomes one by the figure.
    """
    if not original.words & set(_FIGURES):
        return
    for level in original.levels:
        select = level.select
        where = select.args.get("where")
        if where is None or select.args.get("group") is not None or select.is_star:
            continue
        if any(map(has_aggregate, select.expressions)):
            continue
        for node in list_conjuncts(where.this):
            if not isinstance(node, exp.GT | exp.GTE | exp.LT | exp.LTE):
                continue
            is_number = isinstance(node.expression, exp.Literal) and not node.expression.is_string
            if not is_number or not isinstance(node.this, exp.Column):
                continue
            # "Total" may also be the column's name.
            words = original.words - set(split_words(node.this.name))
            figures = {figure for word, figure in _FIGURES.items() if word in words}
            if len(figures) == 1:
                yield _group(original, select, node, figures.pop())


def _group(
    original: Original, select: exp.Select, node: exp.Binary, figure: type[exp.AggFunc]
) -> exp.Expr:
    draft = original.draft()
    copy, condition = draft.of(select), draft.of(node)
    column = node.this
    having = type(node)(this=figure(this=column.copy()), expression=node.expression.copy())
    if condition.parent is copy.args["where"]:
        copy.set("where", None)
    else:
        drop_condition(condition)
    copy.set("distinct", None)
    groups = [output.unalias().copy() for output in select.expressions]
    copy.set("group", exp.Group(expressions=groups))
    copy.set("having", exp.Having(this=having))
    order = copy.args.get("order")
    for by in list(find_all(order, exp.Column)) if order is not None else []:
        if by == column:
            by.replace(figure(this=column.copy()))
    return draft.tree
