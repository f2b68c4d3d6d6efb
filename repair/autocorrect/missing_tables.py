"""Tables that are not joined although the query uses their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from nl2sql.catalog import Table
from repair.autocorrect.names import find_column
from repair.autocorrect.select_scopes import (
    SelectScope,
    SelectSource,
    find_clause,
    find_fault,
    list_faults,
    point_at,
)
from repair.autocorrect.table_lookup import KeyNeighbour, TableLookup


def add_join(
    scope: SelectScope, source: SelectSource, neighbour: KeyNeighbour, side: str = ""
) -> SelectSource | None:
    """Joins a neighbour of ``source``, in place; None if its name is used or a ``*`` would grow.

    ``side`` is that of the join, such as LEFT. Unqualified columns that the new table has too are
    qualified first, to keep their meaning.
    """
    select, visible, table = scope.select, scope.visible, neighbour.table
    name = visible.fold(table.name)
    if scope.find_source(name) or any(
        isinstance(expression, exp.Star) for expression in select.expressions
    ):
        return None
    columns = frozenset(visible.list_columns(table))
    _qualify(scope, columns)
    added = SelectSource(visible.build_identifier(table.name), table, columns)
    condition = build_condition(source, added, neighbour, visible)
    join = exp.Join(this=visible.build_table(table), on=condition, side=side or None)
    select.append("joins", join)
    scope.sources[name] = added
    return added


def build_condition(
    source: SelectSource, added: SelectSource, neighbour: KeyNeighbour, visible: TableLookup
) -> exp.Expr:
    """The condition that joins a source with a neighbour of its table."""
    pairs = (
        (_build_column(source, own, visible), _build_column(added, other, visible))
        for own, other in neighbour.pairs
    )
    return exp.and_(*(exp.EQ(this=left, expression=right) for left, right in pairs), copy=False)


def find_ways(
    scope: SelectScope, fits: Callable[[Table], bool]
) -> list[tuple[SelectSource, KeyNeighbour]]:
    """All ways to join a fitting table over one key to what is in FROM."""
    return [
        (source, neighbour)
        for source, table in scope.list_tables()
        for neighbour in scope.visible.list_neighbours(table)
        if fits(neighbour.table)
    ]


def add_bridge(
    scope: SelectScope, sources: Iterable[SelectSource], fits: Callable[[Table], bool]
) -> tuple[SelectSource, KeyNeighbour] | None:
    """Joins the only table between one of the sources and a fitting table, and returns both."""
    visible = scope.visible
    joined = [table for _, table in scope.list_tables()]
    ways = [
        (source, first, second)
        for source in sources
        if source.table is not None
        for first in visible.list_neighbours(source.table)
        if first.table not in joined
        for second in visible.list_neighbours(first.table)
        if fits(second.table)
    ]
    if len(ways) != 1:
        return None
    source, first, second = ways[0]
    bridge = add_join(scope, source, first)
    return (bridge, second) if bridge else None


def _qualify(scope: SelectScope, columns: frozenset[str]) -> None:
    for column in scope.columns:
        if (
            column.args.get("table") is None
            and (name := scope.visible.spell(column.this)) in columns
        ):
            owners = scope.owners(name)
            if len(owners) == 1:
                column.set("table", owners[0].identifier.copy())


def _build_column(source: SelectSource, name: str, visible: TableLookup) -> exp.Column:
    return exp.Column(this=visible.build_identifier(name), table=source.identifier.copy())


def neighbour_columns(scope: SelectScope) -> bool:
    """Makes ``SELECT country FROM orders`` join the customers, if no other neighbour has a country.

    Also for ``SELECT T2.country`` with an unknown alias, and all other columns of that alias; also
    over one table between. Not for columns in a JOIN's condition, and not for ``o.stat`` where the
    orders have a ``status``: the named table comes first.
    """
    visible, changed = scope.visible, False
    for column, name in list_faults(scope, "owner", "column", "qualifier"):
        if find_clause(column) == "joins" or scope.find_owners(name):
            continue
        named = scope.find_named_table(column)
        if named is not None and find_column(column.name, named) is not None:
            continue
        asked = _list_asked(column, scope)
        fits = _build_test(asked, scope)
        ways = find_ways(scope, fits)
        way = visible.choose(ways) if ways else add_bridge(scope, scope.sources.values(), fits)
        if way and (added := add_join(scope, *way)):
            for used in asked:
                point_at(used, added, visible.spell(used.this), visible)
            changed = True
    return changed


def _list_asked(column: exp.Column, scope: SelectScope) -> list[exp.Column]:
    """The column, and if its alias is unknown, all other columns of that alias."""
    if find_fault(column, scope) != "qualifier":
        return [column]
    alias = column.table.lower()
    return [column for column in scope.columns if column.table.lower() == alias]


def _build_test(asked: list[exp.Column], scope: SelectScope) -> Callable[[Table], bool]:
    """A test whether a table that is not joined yet has all these columns.

    Columns that are qualified with the name of a visible table must belong to that table.
    """
    visible = scope.visible
    names = {visible.spell(column.this) for column in asked}
    joined = [table for _, table in scope.list_tables()]
    meant = visible.tables
    if find_fault(asked[0], scope) == "qualifier":
        alias = visible.fold(asked[0].table)
        meant = tuple(table for table in meant if visible.fold(table.name) == alias) or meant

    def fits(table: Table) -> bool:
        return table in meant and table not in joined and names <= set(visible.list_columns(table))

    return fits
