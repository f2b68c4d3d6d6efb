"""Both of two conditions that the question asks for, and conditions on days."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.column_kinds import find_kind
from nl2sql.sql.nodes import find_all
from repair.derive.original import Original

_DAY = re.compile(r"(\d{4})-\d\d?-(\d\d?)")
# The prompt says which days these are (generation/prompts/relative_dates.py).
_RELATIVE = re.compile(r"\b(?:to|yester)day\b|\b(?:last|past|previous|this)\b", re.IGNORECASE)
_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like, exp.NEQ)


def has_aggregate(node: exp.Expr) -> bool:
    """True if it contains an aggregate, apart from window functions and those of subqueries.

    >>> from nl2sql.sql.parsing import parse_one
    >>> tree = parse_one("SELECT a, 1 + SUM(b), (SELECT MAX(c) FROM t) FROM u", "postgres")
    >>> [has_aggregate(output) for output in tree.expressions]
    [False, True, False]
    """
    select = node if isinstance(node, exp.Select) else node.parent_select
    return any(
        function.parent_select is select and not isinstance(function.parent, exp.Window)
        for function in find_all(node, exp.AggFunc)
    )


def both_conditions(original: Original) -> Iterator[exp.Expr]:
    """``a OR b``, ``a AND b`` or ``x IN (1, 2)`` becomes the INTERSECT of two queries."""
    select = original.tree
    if not isinstance(select, exp.Select) or any(map(has_aggregate, select.expressions)):
        return
    where = select.args.get("where")
    if where is None or "and" not in original.question.lower().split():
        return
    for node in find_all(where, exp.Or, exp.And, exp.In):
        if node.find_ancestor(exp.Select) is not select:
            continue
        sides = _split(node)
        if sides is None:
            continue
        branches = []
        for side in sides:
            draft = original.draft()
            draft.of(node).replace(side.copy())
            for part in ("order", "limit"):
                draft.tree.set(part, None)
            branches.append(draft.tree)
        yield exp.Intersect(this=branches[0], expression=branches[1], distinct=True)


def whole_days(original: Original) -> Iterator[exp.Expr]:
    """``placed_at = '2024-05-25'`` becomes ``CAST(placed_at AS DATE) = '2024-05-25'``.

    So do ``<=`` and BETWEEN: the last day is meant with all its times. Only where the question says
    the day, the year of a span, or "last week": samples invent such conditions.
    """
    said = set(map(int, re.findall(r"\d+", original.question)))
    is_relative = _RELATIVE.search(original.question)
    draft = original.draft()
    for scope in original.scopes:
        for node in find_all(scope.select, exp.EQ, exp.LTE, exp.Between):
            last = node.args.get("high")
            day = _DAY.fullmatch((last or node.args["expression"]).name)
            told = map(int, (day.groups() if last else day.groups()[1:]) if day else ())
            is_said = day and (is_relative or not said.isdisjoint(told))
            column = original.find_column(node.this, scope) if is_said else None
            is_time = column and find_kind(column.type, original.visible.dialect) == "timestamp"
            if is_time and node.parent_select is scope.select:
                draft.of(node.this).replace(exp.cast(node.this.copy(), "date"))
    if draft.tree != original.tree:
        yield draft.tree


def _split(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    if isinstance(node, exp.In):
        values = node.expressions
        if len(values) != 2:
            return None
        left, right = (exp.EQ(this=node.this.copy(), expression=value.copy()) for value in values)
        return left, right
    assert isinstance(node, exp.Connector)
    sides = node.left.unnest(), node.right.unnest()
    if not all(isinstance(side, _COMPARISONS) for side in sides):
        return None
    if isinstance(node, exp.And) and sides[0].this != sides[1].this:
        return None
    return sides
