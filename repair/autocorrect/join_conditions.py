"""Joins over columns that do not exist, and joins in the wrong order."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.sql.nodes import find_all
from nl2sql.sql.scopes import find_name
from repair.autocorrect.missing_tables import add_bridge, build_condition
from repair.autocorrect.select_scopes import (
    SelectScope,
    SelectSource,
    find_fault,
)
from repair.autocorrect.table_lookup import KeyNeighbour


def join_keys(scope: SelectScope) -> bool:
    """Joins ``JOIN cars c ON m.id = c.maker`` over the key between the tables, if there is one.

    If there is none, but keys lead over one table between them, joins that table too.
    """
    changed = False
    for join in list(scope.select.args.get("joins") or ()):
        if _is_broken(join, scope):
            changed |= _join_over_key(join, scope)
    return changed


def _is_broken(join: exp.Join, scope: SelectScope) -> bool:
    """True if the condition names a column that its table does not have."""
    condition = join.args.get("on")
    return condition is not None and any(
        column.find_ancestor(exp.Join) is join
        and column in scope.columns
        and find_fault(column, scope) in ("owner", "column")
        for column in find_all(condition, exp.Column)
    )


def _join_over_key(join: exp.Join, scope: SelectScope) -> bool:
    visible = scope.visible
    identifier = find_name(join.this)
    if identifier is None:
        return False
    joined = scope.sources.get(visible.spell(identifier))
    condition = join.args["on"]
    if joined is None or joined.table is None or not _is_plain(condition):
        return False
    before = _list_before(join, scope)
    ways = [
        (source, neighbour)
        for source in before
        if source.table is not None
        for neighbour in visible.list_neighbours(source.table)
        if neighbour.table is joined.table
    ]
    named = {
        visible.spell(column.args["table"])
        for column in find_all(condition, exp.Column)
        if column.args.get("table") is not None
    }
    ways = [way for way in ways if visible.spell(way[0].identifier) in named] or ways
    way = visible.choose(ways) if ways else _add_bridge(before, join, joined.table, scope)
    if way is None:
        return False
    source, neighbour = way
    join.set("on", build_condition(source, joined, neighbour, visible))
    return True


def _add_bridge(
    before: list[SelectSource], join: exp.Join, joined: Table, scope: SelectScope
) -> tuple[SelectSource, KeyNeighbour] | None:
    """Joins the only table between the earlier sources and the joined one, ahead of its join."""
    way = add_bridge(scope, before, lambda table: table is joined)
    if way is not None:
        joins = scope.select.args["joins"]
        joins.insert(next(at for at, other in enumerate(joins) if other is join), joins.pop())
    return way


def _is_plain(condition: exp.Expr) -> bool:
    """True for one comparison of two columns."""
    return (
        isinstance(condition, exp.EQ)
        and isinstance(condition.left, exp.Column)
        and isinstance(condition.right, exp.Column)
    )


def _list_before(join: exp.Join, scope: SelectScope) -> list[SelectSource]:
    """The sources before the join."""
    nodes = [scope.select.args["from_"].this] if scope.select.args.get("from_") else []
    for other in scope.select.args["joins"]:
        if other is join:
            break
        nodes.append(other.this)
    names = [find_name(node) for node in nodes if isinstance(node, exp.Table)]
    found = (scope.sources.get(scope.visible.spell(name)) for name in names if name is not None)
    return [source for source in found if source is not None]
