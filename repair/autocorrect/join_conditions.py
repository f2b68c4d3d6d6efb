"""Joins over columns that do not exist, and joins in the wrong order."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.sql.scopes import find_name
from repair.autocorrect.missing_tables import add_join, build_condition
from repair.autocorrect.select_scopes import (
    SelectScope,
    SelectSource,
    find_fault,
    point_at,
    read_scopes,
)
from repair.autocorrect.table_lookup import KeyNeighbour, TableLookup


def join_keys(tree: exp.Expr, visible: TableLookup) -> bool:
    """Joins ``JOIN cars c ON m.id = c.maker`` over the key between the tables, if there is one.

    If there is none, but keys lead over one table between them, joins that table too.
    """
    changed = False
    for scope in read_scopes(tree, visible):
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
    way = visible.choose(ways) if ways else _find_bridge(before, join, joined, scope)
    if way is None:
        return False
    source, neighbour = way
    join.set("on", build_condition(source, joined, neighbour, visible))
    return True


def _find_bridge(
    before: list[SelectSource], join: exp.Join, joined: SelectSource, scope: SelectScope
) -> tuple[SelectSource, KeyNeighbour] | None:
    """Joins the only table between the earlier sources and the joined one, and returns it."""
    visible = scope.visible
    around = {id(table) for _, table in scope.list_tables()}
    ways = [
        (source, first, second)
        for source in before
        if source.table is not None
        for first in visible.list_neighbours(source.table)
        if id(first.table) not in around
        for second in visible.list_neighbours(first.table)
        if second.table is joined.table
    ]
    if len(ways) != 1:
        return None
    source, first, second = ways[0]
    bridge = add_join(scope, source, first)
    if bridge is None:
        return None
    joins = scope.select.args["joins"]
    joins.insert(next(at for at, other in enumerate(joins) if other is join), joins.pop())
    return bridge, second


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


def broken_joins(tree: exp.Expr, visible: TableLookup) -> bool:
    """Leaves ``JOIN returns AS r ON o.return_id = r.id`` out if nothing else is asked of ``r``.

    A column that is asked of it, but that only one other table has, is then asked of that one. Runs
    after the rules that find the key to join over.
    """
    changed = False
    for scope in read_scopes(tree, visible):
        if any(isinstance(expression, exp.Star) for expression in scope.select.expressions):
            continue
        # One at a time: the others may be joined to it.
        changed |= any(
            _leave_out(join, scope) for join in reversed(scope.select.args.get("joins") or ())
        )
    return changed


def _leave_out(join: exp.Join, scope: SelectScope) -> bool:
    select, visible = scope.select, scope.visible
    condition, identifier = join.args.get("on"), find_name(join.this)
    joined = scope.sources.get(visible.spell(identifier)) if identifier is not None else None
    if condition is None or joined is None or joined.table is None or join.side not in ("", "LEFT"):
        return False
    inside = {id(column) for column in find_all(condition, exp.Column)}
    if not any(
        id(column) in inside and find_fault(column, scope) in ("owner", "column", "qualifier")
        for column in scope.columns
    ):
        return False
    others = [source for source in scope.sources.values() if source is not joined]
    moved: list[tuple[exp.Column, SelectSource, str]] = []
    for column in find_all(select, exp.Column):
        if id(column) in inside or not isinstance(column.this, exp.Identifier):
            continue
        name, qualifier = visible.spell(column.this), column.args.get("table")
        if qualifier is None:
            if joined.has(name) and not any(other.has(name) for other in others):
                return False
        elif visible.spell(qualifier) == visible.spell(joined.identifier):
            owners = [other for other in others if other.has(name)]
            if joined.has(name) or len(owners) != 1 or owners[0].columns is None:
                return False
            moved.append((column, owners[0], name))
    for column, owner, name in moved:
        point_at(column, owner, name, visible)
    select.set("joins", [other for other in select.args["joins"] if other is not join])
    return True


def join_order(tree: exp.Expr, visible: TableLookup) -> bool:
    """Makes ``a JOIN b ON a.x = c.x JOIN c ON b.y = c.y`` join ``c`` first, over ``a.x = c.x``.

    Only for inner joins that all have conditions, with qualified columns.
    """
    return max([_order(scope) for scope in read_scopes(tree, visible)], default=False)


def _order(scope: SelectScope) -> bool:
    select = scope.select
    joins: list[exp.Join] = list(select.args.get("joins") or ())
    start = select.args.get("from_")
    if start is None or not all(_is_inner(join) for join in joins):
        return False
    names = [_read_name(node, scope) for node in (start.this, *(join.this for join in joins))]
    conditions = [(join.args["on"], _read_names(join.args["on"], scope)) for join in joins]
    if None in names or any(used is None or not used <= set(names) for _, used in conditions):
        return False
    if all(used <= set(names[: at + 2]) for at, (_, used) in enumerate(conditions) if used):
        return False
    tables = {name: join.this for name, join in zip(names[1:], joins, strict=True)}
    there, ordered = {names[0]}, []
    while conditions:
        ready = [
            (at, name)
            for at, (_, used) in enumerate(conditions)
            for name in tables
            if used is not None and name in used and used <= there | {name}
        ]
        if not ready:
            return False
        at, name = ready[0]
        ordered.append((tables.pop(name), conditions.pop(at)[0]))
        there.add(name)
    # Only now: a node that is moved leaves its old place.
    select.set("joins", [exp.Join(this=node, on=condition) for node, condition in ordered])
    return True


def _is_inner(join: exp.Join) -> bool:
    return (
        not join.side
        and join.kind in ("", "INNER")
        and not join.method
        and join.args.get("on") is not None
    )


def _read_name(node: exp.Expr, scope: SelectScope) -> str | None:
    identifier = find_name(node) if isinstance(node, exp.Table | exp.Subquery) else None
    return scope.visible.spell(identifier) if identifier is not None else None


def _read_names(condition: exp.Expr, scope: SelectScope) -> set[str] | None:
    """The sources that the condition names; None if a column is not qualified."""
    columns = list(find_all(condition, exp.Column))
    if condition.find(exp.Query) or any(column.args.get("table") is None for column in columns):
        return None
    return {scope.visible.spell(column.args["table"]) for column in columns}
