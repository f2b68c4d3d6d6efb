"""Joins whose condition names a table that is joined later."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.sql.scopes import find_name
from repair.autocorrect.levels import Level, read_levels
from repair.autocorrect.table_lookup import TableLookup


def join_order(tree: exp.Expr, visible: TableLookup) -> bool:
    """Makes ``a JOIN b ON a.x = c.x JOIN c ON b.y = c.y`` join ``c`` first, over ``a.x = c.x``.

    Only for inner joins that all have conditions, with qualified columns.
    """
    return max([_order(level) for level in read_levels(tree, visible)], default=False)


def _order(level: Level) -> bool:
    select = level.select
    joins: list[exp.Join] = list(select.args.get("joins") or ())
    start = select.args.get("from_")
    if start is None or not all(_is_inner(join) for join in joins):
        return False
    names = [_name(node, level) for node in (start.this, *(join.this for join in joins))]
    conditions = [(join.args["on"], _read_names(join.args["on"], level)) for join in joins]
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


def _name(node: exp.Expr, level: Level) -> str | None:
    identifier = find_name(node) if isinstance(node, exp.Table | exp.Subquery) else None
    return level.visible.spell(identifier) if identifier is not None else None


def _read_names(condition: exp.Expr, level: Level) -> set[str] | None:
    """The sources that the condition names; None if a column is not qualified."""
    columns = list(find_all(condition, exp.Column))
    if condition.find(exp.Query) or any(column.args.get("table") is None for column in columns):
        return None
    return {level.visible.spell(column.args["table"]) for column in columns}
