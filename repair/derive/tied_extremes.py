"""All rows at the end of an order, or one of them."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.derive.original import Original, add_condition, has_aggregate


def tied_extremes(original: Original) -> Iterator[exp.Expr]:
    """``ORDER BY x DESC LIMIT 1`` becomes ``WHERE x = (SELECT max(x) …)``, and the reverse."""
    for level in original.levels:
        select = level.select
        order, limit = select.args.get("order"), select.args.get("limit")
        if order is not None and limit is not None:
            yield from _widen(original, select)
        where = select.args.get("where")
        if where is not None and order is None and limit is None:
            yield from _narrow(original, select, where)


def _widen(original: Original, select: exp.Select) -> Iterator[exp.Expr]:
    by = select.args["order"].expressions[0]
    is_one = select.args["limit"].expression.name == "1"
    if not is_one or select.args.get("group") is not None or not isinstance(by.this, exp.Column):
        return
    draft = original.draft()
    copy = draft.of(select)
    inner = exp.Select(from_=copy.args["from_"].copy())
    for part in ("joins", "where"):
        value = copy.args.get(part)
        if value:
            inner.set(part, [v.copy() for v in value] if isinstance(value, list) else value.copy())
    figure = (exp.Max if by.args.get("desc") else exp.Min)(this=by.this.copy())
    inner.set("expressions", [figure])
    copy.set("order", None)
    copy.set("limit", None)
    add_condition(copy, exp.EQ(this=by.this.copy(), expression=exp.Subquery(this=inner)))
    yield draft.tree


def _narrow(original: Original, select: exp.Select, where: exp.Where) -> Iterator[exp.Expr]:
    for equal in find_all(where, exp.EQ):
        inner = equal.expression
        if not isinstance(inner, exp.Subquery) or not isinstance(inner.this, exp.Select):
            continue
        outputs = inner.this.expressions
        if len(outputs) != 1 or not isinstance(outputs[0].unalias(), exp.Max | exp.Min):
            continue
        if any(map(has_aggregate, select.expressions)) or not isinstance(equal.this, exp.Column):
            continue
        draft = original.draft()
        copy = draft.of(select)
        is_max = isinstance(outputs[0].unalias(), exp.Max)
        by = exp.Ordered(this=equal.this.copy(), desc=is_max, nulls_first=False)
        if where.this is equal:
            copy.set("where", None)
        elif isinstance(equal.parent, exp.And):
            parent = draft.of(equal.parent)
            keep = equal.parent.right if equal.parent.left is equal else equal.parent.left
            parent.replace(draft.of(keep))
        else:
            continue
        copy.set("order", exp.Order(expressions=[by]))
        copy.set("limit", exp.Limit(expression=exp.Literal.number(1)))
        yield draft.tree
