"""Rows that have no related row of some kind, instead of a related row of another kind."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.levels import Level, Source
from repair.derive.joins import find_node
from repair.derive.original import Original, add_condition, has_aggregate, list_conjuncts
from repair.derive.signs import NEGATIONS


def excluded_rows(original: Original) -> Iterator[exp.Expr]:
    """``… FROM a JOIN b … WHERE b.x <> 1`` becomes ``… FROM a WHERE id NOT IN (… b.x = 1)``.

    Also the whole join if there is no such condition, and with EXCEPT over the outputs. Only if the
    question has a negation.
    """
    select = original.tree
    if not isinstance(select, exp.Select) or select.args.get("group") is not None:
        return
    if not NEGATIONS & original.words and "n't" not in original.question:
        return
    base = _find_base(original, original.levels[0])
    node = find_node(select, base) if base is not None else None
    if base is None or base.table is None or node is None:
        return
    start = exp.Select(
        expressions=[output.copy() for output in select.expressions],
        from_=exp.From(this=node.copy()),
    )
    for inner, kept in _list_excluded(original, select):
        outer = start.copy()
        for condition in kept:
            if _concerns(original, condition, base):
                add_condition(outer, condition.copy())
        if (key := original.find_key(base.table)) is not None:
            yield _exclude(outer, inner, original.build_column(base, key))
        if not any(map(has_aggregate, select.expressions)):
            yield exp.Except(this=outer.copy(), expression=inner.copy(), distinct=True)


def _list_excluded(
    original: Original, select: exp.Select
) -> Iterator[tuple[exp.Select, list[exp.Expr]]]:
    """The queries for the rows to leave out, each with the other conditions of the original.

    They have a negated condition turned, or are all that is joined.
    """
    where = select.args.get("where")
    conditions = list_conjuncts(where.this) if where is not None else []
    turned = [(node, other) for node in conditions if (other := _turn(node)) is not None]
    if not turned and select.args.get("joins"):
        turned = [(select, select)]
    for node, other in turned:
        draft = original.draft()
        inner = draft.tree
        assert isinstance(inner, exp.Select)
        if node is not select:
            draft.of(node).replace(other)
        for part in ("order", "limit", "distinct"):
            inner.set(part, None)
        yield inner, [condition for condition in conditions if condition is not node]


def _concerns(original: Original, condition: exp.Expr, base: Source) -> bool:
    """True if the condition names columns of the base table only."""
    level = original.levels[0]
    columns = list(find_all(condition, exp.Column))
    return bool(columns) and all(original.find_owner(column, level) is base for column in columns)


def _exclude(outer: exp.Select, inner: exp.Select, key: exp.Column) -> exp.Expr:
    inner, outer = inner.copy(), outer.copy()
    inner.set("expressions", [key.copy()])
    found = exp.In(this=key, query=exp.Subquery(this=inner))
    add_condition(outer, exp.Not(this=found))
    return outer


def _find_base(original: Original, level: Level) -> Source | None:
    """The one table to which all outputs belong; the first in FROM if they name none."""
    owners = {
        id(owner): owner
        for output in level.select.expressions
        for column in output.find_all(exp.Column)
        if (owner := original.find_owner(column, level)) is not None
    }
    found = list(owners.values()) or [source for source, _ in level.list_tables()][:1]
    if len(found) != 1 or find_node(level.select, found[0]) is None:
        return None
    return found[0]


def _turn(node: exp.Expr) -> exp.Expr | None:
    """The opposite of a negated condition."""
    if isinstance(node, exp.NEQ):
        return exp.EQ(this=node.this.copy(), expression=node.expression.copy())
    if isinstance(node, exp.Not) and isinstance(node.this, exp.Like | exp.In | exp.EQ):
        return node.this.copy()
    return None
