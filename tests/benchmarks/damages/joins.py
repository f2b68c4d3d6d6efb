"""Joins that are missing, in another order, or compare other columns."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from sqlglot import exp

from repair.autocorrect.levels import Level, Source, read_levels
from repair.autocorrect.table_lookup import TableLookup
from tests.benchmarks.damages.places import write_query


def lost_join_bare(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """A table is not joined, and its columns are not qualified: ``SELECT country``."""
    return _lose_join(tree, visible, random, lambda source: None)


def lost_join_named(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """A table is not joined, and its columns are qualified by its name."""

    def name(source: Source) -> exp.Identifier | None:
        return visible.build_identifier(source.table.name) if source.table is not None else None

    return _lose_join(tree, visible, random, name)


def lost_join_aliased(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """A table is not joined, and its columns keep the alias that it had."""
    return _lose_join(tree, visible, random, lambda source: source.identifier.copy())


def lost_bridge(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``a JOIN b ON a.x = b.x JOIN c ON b.y = c.y`` → ``a JOIN c ON a.y = c.y``."""
    places = []
    for level in read_levels(tree, visible):
        for bridge, join in _list_joined(level):
            others = [source for source in level.sources.values() if source is not bridge]
            uses = [column for column in level.columns if _belongs(column, bridge, level)]
            on = [column for column in uses if column.find_ancestor(exp.Join) is not None]
            if len(level.sources) == 3 and len(on) == len(uses) == 2:
                places.append((join, on, others[0]))
    if not places:
        return None
    join, on, start = random.choice(places)
    for column in on:
        column.set("table", start.identifier.copy())
    _drop(join)
    return write_query(tree, visible)


def swapped_keys(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``ON o.customer_id = c.id`` → ``ON o.id = c.customer_id``."""
    condition = _choose_condition(tree, random)
    if condition is None:
        return None
    left, right = condition.left.this.copy(), condition.right.this.copy()
    condition.left.set("this", right)
    condition.right.set("this", left)
    return write_query(tree, visible)


def same_keys(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """``ON o.customer_id = c.id`` → ``ON o.customer_id = c.customer_id``."""
    condition = _choose_condition(tree, random)
    if condition is None:
        return None
    condition.right.set("this", condition.left.this.copy())
    return write_query(tree, visible)


def shuffled_joins(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """A table is joined over one that is joined after it."""
    selects = [
        select for select in tree.find_all(exp.Select) if len(select.args.get("joins") or ()) > 1
    ]
    if not selects:
        return None
    select = random.choice(selects)
    select.set("joins", select.args["joins"][::-1])
    return write_query(tree, visible)


def repeated_join(tree: exp.Expr, visible: TableLookup, random: Random) -> str | None:
    """A table is joined again under the same name, with the same condition."""
    joins = [join for join in tree.find_all(exp.Join) if join.args.get("on") is not None]
    if not joins:
        return None
    join = random.choice(joins)
    select = join.parent
    assert isinstance(select, exp.Select)
    select.append("joins", join.copy())
    return write_query(tree, visible)


def _list_joined(level: Level) -> list[tuple[Source, exp.Join]]:
    """The joined tables, each with its join."""
    found = []
    for join in level.select.args.get("joins") or ():
        name = join.this.alias_or_name if isinstance(join.this, exp.Table) else ""
        source = level.sources.get(level.visible.fold(name))
        if source is not None and source.table is not None and join.args.get("on") is not None:
            found.append((source, join))
    return found


def _belongs(column: exp.Column, source: Source, level: Level) -> bool:
    qualifier = column.args.get("table")
    if qualifier is not None:
        return level.sources.get(level.visible.spell(qualifier)) is source
    return level.owners(level.visible.spell(column.this)) == [source]


def _lose_join(
    tree: exp.Expr,
    visible: TableLookup,
    random: Random,
    name: Callable[[Source], exp.Identifier | None],
) -> str | None:
    """Drops a join that no other needs; ``name`` gives the new qualifier of its columns."""
    places = []
    for level in read_levels(tree, visible):
        for source, join in _list_joined(level):
            uses = [
                column
                for column in level.columns
                if _belongs(column, source, level) and column.find_ancestor(exp.Join) is not join
            ]
            if uses and not any(column.find_ancestor(exp.Join) for column in uses):
                places.append((join, source, uses))
    if not places:
        return None
    join, source, uses = random.choice(places)
    for column in uses:
        column.set("table", name(source))
    _drop(join)
    return write_query(tree, visible)


def _drop(join: exp.Join) -> None:
    select = join.parent
    assert isinstance(select, exp.Select)
    select.set("joins", [arg for arg in select.args["joins"] if arg is not join])


def _list_conditions(tree: exp.Expr) -> list[exp.EQ]:
    """Joins' conditions that compare two qualified columns."""
    return [
        condition
        for join in tree.find_all(exp.Join)
        if isinstance(condition := join.args.get("on"), exp.EQ)
        and all(
            isinstance(side, exp.Column) and side.args.get("table") is not None
            for side in (condition.left, condition.right)
        )
    ]


def _choose_condition(tree: exp.Expr, random: Random) -> exp.EQ | None:
    """A join's condition that compares columns of different names."""
    conditions = [
        condition
        for condition in _list_conditions(tree)
        if condition.left.name.lower() != condition.right.name.lower()
    ]
    return random.choice(conditions) if conditions else None
