"""Columns that are asked of the wrong source, or of none."""

from __future__ import annotations

from collections import defaultdict

from sqlglot import exp

from nl2sql.sql.nodes import find_all
from repair.autocorrect.names import rename_table
from repair.autocorrect.select_scopes import (
    SelectScope,
    SelectSource,
    compares_itself,
    list_faults,
    may_mean,
    point_at,
    read_scopes,
)
from repair.autocorrect.table_lookup import KeyNeighbour, TableLookup

_Asked = tuple[exp.Column, str]


def unknown_aliases(tree: exp.Expr, visible: TableLookup) -> bool:
    """Makes ``T3.name`` the ``name`` of the only source that has all columns used of ``T3``.

    Of several sources, it chooses the one that is not used otherwise, whose alias was forgotten. In
    ``a JOIN b ON T1.id = a.b_id`` this is ``b``. If no source has all columns, each column is that
    of the only source that has it.
    """
    changed = False
    for scope in read_scopes(tree, visible):
        asked: dict[str, list[_Asked]] = defaultdict(list)
        for column, name in list_faults(scope, "qualifier"):
            asked[visible.spell(column.args["table"])].append((column, name))
        for columns in asked.values():
            whole = _find_meant(columns, scope)
            for column, name in columns:
                source = whole or _find_meant([(column, name)], scope)
                if source is not None:
                    point_at(column, source, name, visible)
                    changed = True
    return changed


def _find_meant(columns: list[_Asked], scope: SelectScope) -> SelectSource | None:
    """The source that these columns' alias means, here or else in the nearest outer SELECT."""
    here: SelectScope | None = scope
    while here is not None:
        owners = [
            source
            for source in here.sources.values()
            if all(source.has(name) for _, name in columns)
        ]
        if any(owner.columns is None for owner in owners):
            return None
        if owners:
            left = [
                owner for owner in owners if all(may_mean(*asked, owner, here) for asked in columns)
            ]
            if len(left) > 1:
                left = [source for source in left if not _is_asked(source, here)]
            return left[0] if len(left) == 1 else None
        here = here.outer
    return None


def _is_asked(source: SelectSource, scope: SelectScope) -> bool:
    """Whether some column of the SELECT is qualified with the source's name."""
    visible = scope.visible
    name = visible.spell(source.identifier)
    qualifiers = (column.args.get("table") for column in scope.columns)
    return any(
        qualifier is not None and visible.spell(qualifier) == name for qualifier in qualifiers
    )


def wrong_tables(tree: exp.Expr, visible: TableLookup) -> bool:
    """``o.country`` becomes ``c.country`` if of all joined tables only ``c`` has a country."""
    changed = False
    for scope in read_scopes(tree, visible):
        for column, name in list_faults(scope, "owner"):
            owners = scope.find_owners(name)
            if any(owner.columns is None for owner in owners):
                continue
            owners = [
                owner for owner in owners if not compares_itself(column, owner, name, visible)
            ]
            if not owners:
                continue
            if len(owners) == 1 or are_equal(scope, owners, name):
                point_at(column, owners[0], name, visible)
                changed = True
    return changed


def wrong_from(tree: exp.Expr, visible: TableLookup) -> bool:
    """Makes ``SELECT order_id, reason FROM order_lines`` read ``returns``, which has both.

    Only if a single neighbour has all columns that the SELECT uses, and the columns that both have
    are the key between them, under the same name: the ``id`` of one is not the ``id`` of the other.
    """
    changed = False
    for scope in read_scopes(tree, visible):
        tables = scope.list_tables()
        if len(scope.sources) != 1 or len(tables) != 1:
            continue
        if not any(True for _ in list_faults(scope, "owner", "column")):
            continue
        _, table = tables[0]
        if any(isinstance(expression, exp.Star) for expression in scope.select.expressions):
            continue
        used = {
            visible.spell(column.this)
            for column in scope.columns
            if visible.spell(column.this) not in scope.outputs
        }
        shared = used & set(visible.list_columns(table))
        meant = {
            neighbour.table.qualified: neighbour.table
            for neighbour in visible.list_neighbours(table)
            if used <= set(visible.list_columns(neighbour.table))
            and shared
            and all((name, name) in _fold_pairs(neighbour, visible) for name in shared)
        }
        if len(meant) == 1:
            node = scope.select.args["from_"].this
            rename_table(scope.select, node, next(iter(meant.values())).name, visible)
            changed = True
    return changed


def _fold_pairs(neighbour: KeyNeighbour, visible: TableLookup) -> set[tuple[str, str]]:
    return {(visible.fold(own), visible.fold(other)) for own, other in neighbour.pairs}


def are_equal(scope: SelectScope, owners: list[SelectSource], name: str) -> bool:
    """True if the SELECT equates the owners' columns of that name, directly or indirectly."""
    visible = scope.visible
    groups: list[set[tuple[str, str]]] = []
    for node in find_all(scope.select, exp.EQ):
        if node.parent_select is not scope.select or node.find_ancestor(exp.Or, exp.Not):
            continue
        ends = [_read_end(side, scope) for side in (node.left, node.right)]
        if None in ends:
            continue
        pair = {end for end in ends if end is not None}
        touching = [group for group in groups if group & pair]
        groups = [group for group in groups if not group & pair]
        groups.append(pair.union(*touching))
    asked = {(visible.spell(owner.identifier), name) for owner in owners}
    return any(asked <= group for group in groups)


def _read_end(side: exp.Expr, scope: SelectScope) -> tuple[str, str] | None:
    if not isinstance(side, exp.Column) or not isinstance(side.this, exp.Identifier):
        return None
    name, qualifier = scope.visible.spell(side.this), side.args.get("table")
    if qualifier is not None:
        return scope.visible.spell(qualifier), name
    owners = scope.owners(name)
    return (scope.visible.spell(owners[0].identifier), name) if len(owners) == 1 else None


def ambiguous_columns(tree: exp.Expr, visible: TableLookup) -> bool:
    """Qualifies them with the first table that has them, since joined columns are mostly equal.

    In a join's condition, uses the table on the other side of the comparison.
    """
    changed = False
    for scope in read_scopes(tree, visible):
        for column, name in list_faults(scope, "ambiguous"):
            owners = scope.find_owners(name)
            meant = [owner for owner in owners if may_mean(column, name, owner, scope)]
            if meant:
                point_at(column, meant[0], name, visible)
                changed = True
    return changed
