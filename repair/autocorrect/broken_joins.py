"""Joins over a column that does not exist, to a table of which the query uses nothing else."""

from __future__ import annotations

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from nl2sql.sql.scopes import find_name
from repair.autocorrect.levels import Level, Source, find_fault, point_at, read_levels
from repair.autocorrect.table_lookup import TableLookup


def broken_joins(tree: exp.Expr, visible: TableLookup) -> bool:
    """Leaves ``JOIN returns AS r ON o.return_id = r.id`` out if nothing else is asked of ``r``.

    A column that is asked of it, but that only one other table has, is then asked of that one. Runs
    after the rules that find the key to join over.
    """
    changed = False
    for level in read_levels(tree, visible):
        if any(isinstance(expression, exp.Star) for expression in level.select.expressions):
            continue
        # One at a time: the others may be joined to it.
        changed |= any(
            _leave_out(join, level) for join in reversed(level.select.args.get("joins") or ())
        )
    return changed


def _leave_out(join: exp.Join, level: Level) -> bool:
    select, visible = level.select, level.visible
    condition, identifier = join.args.get("on"), find_name(join.this)
    joined = level.sources.get(visible.spell(identifier)) if identifier is not None else None
    if condition is None or joined is None or joined.table is None or join.side not in ("", "LEFT"):
        return False
    inside = {id(column) for column in find_all(condition, exp.Column)}
    if not any(
        id(column) in inside and find_fault(column, level) in ("owner", "column", "qualifier")
        for column in level.columns
    ):
        return False
    others = [source for source in level.sources.values() if source is not joined]
    moved: list[tuple[exp.Column, Source, str]] = []
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
