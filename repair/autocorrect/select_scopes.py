"""Reads the SELECTs of a query with their sources, and finds what is wrong with a column.

The reading is lenient: an unknown source may have any column, so that no rule changes what it does
not understand. The guard, which is strict, checks the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from nl2sql.catalog import Table
from nl2sql.sql.nodes import find_all
from nl2sql.sql.scopes import QuerySource, find_outer, list_outputs, read_sources
from repair.autocorrect.table_lookup import TableLookup

Fault = Literal["", "qualifier", "owner", "column"]
"""Nothing; no source of that name; the source lacks the column; no source has it."""

# The clauses that may name an output, besides ORDER BY and GROUP BY.
_OUTPUT_CLAUSES = {
    "postgres": frozenset({"order", "group"}),
    "sqlite": frozenset({"order", "group", "where", "having"}),
    "duckdb": frozenset({"order", "group", "where", "having", "expressions"}),
}


@dataclass(eq=False, slots=True)
class SelectSource:
    """A source in FROM. ``columns`` are folded names; None if they are unknown."""

    identifier: exp.Identifier
    table: Table | None
    columns: frozenset[str] | None

    def has(self, name: str) -> bool:
        """True if it has the column, or may have it."""
        return self.columns is None or name in self.columns


@dataclass(eq=False, slots=True)
class SelectScope:
    """One SELECT: its sources by folded name, its outputs' expressions, its own columns.

    ``outer`` is the SELECT whose columns it may use too.
    """

    select: exp.Select
    visible: TableLookup
    sources: dict[str, SelectSource] = field(default_factory=dict)
    outputs: dict[str, exp.Expr] = field(default_factory=dict)
    columns: list[exp.Column] = field(default_factory=list)
    outer: SelectScope | None = None

    def owners(self, name: str) -> list[SelectSource]:
        """The sources that have the column."""
        return [source for source in self.sources.values() if source.has(name)]

    def find_owners(self, name: str) -> list[SelectSource]:
        """The sources that have the column, here, or else in the nearest outer SELECT."""
        here: SelectScope | None = self
        while here is not None:
            if owners := here.owners(name):
                return owners
            here = here.outer
        return []

    def find_source(self, qualifier: str) -> SelectSource | None:
        """The source of that name, here or in an outer SELECT."""
        here: SelectScope | None = self
        while here is not None:
            if source := here.sources.get(qualifier):
                return source
            here = here.outer
        return None

    def find_named_table(self, column: exp.Column) -> Table | None:
        """The visible table that the column's qualifier names, if any."""
        qualifier = column.args.get("table")
        source = self.find_source(self.visible.spell(qualifier)) if qualifier is not None else None
        return source.table if source is not None else None

    def list_tables(self) -> list[tuple[SelectSource, Table]]:
        """The sources that are visible tables."""
        return [
            (source, source.table) for source in self.sources.values() if source.table is not None
        ]


def read_scopes(tree: exp.Expr, visible: TableLookup) -> list[SelectScope]:
    """All SELECTs of the query, outer ones first."""
    scopes: dict[int, SelectScope] = {}
    for select in find_all(tree, exp.Select):
        scope = SelectScope(select, visible, outer=scopes.get(id(find_outer(select))))
        for name, source in read_sources(select, visible.spell).items():
            scope.sources[name] = _read_source(name, source, visible)
        scope.outputs = {
            visible.spell(expression.args["alias"]): expression.this
            for expression in select.expressions
            if isinstance(expression, exp.Alias)
        }
        scopes[id(select)] = scope
    for column in find_all(tree, exp.Column):
        is_name = isinstance(column.this, exp.Identifier) and column.arg_key != "using"
        holder = column.parent_select
        if is_name and holder is not None and id(holder) in scopes:
            scopes[id(holder)].columns.append(column)
    return list(scopes.values())


def find_fault(column: exp.Column, scope: SelectScope) -> Fault:
    """What is wrong with the column; nothing if that is unknown."""
    visible = scope.visible
    name, qualifier = visible.spell(column.this), column.args.get("table")
    if qualifier is not None:
        source = scope.find_source(visible.spell(qualifier))
        if source is None:
            return "qualifier"
        return "" if source.has(name) else "owner"
    if name in scope.outputs and find_clause(column) in _OUTPUT_CLAUSES[visible.dialect]:
        return ""
    owners = scope.find_owners(name)
    if owners or (visible.dialect == "sqlite" and column.this.args.get("quoted")):
        # SQLite reads an unknown name in double quotes as text.
        return ""
    return "column"


def find_clause(node: exp.Expr) -> str:
    """The part of its SELECT that contains the node: ``where``, ``order``, ``joins`` …"""
    here: exp.Expr = node
    while here.parent is not None and not isinstance(here.parent, exp.Select):
        here = here.parent
    return here.arg_key or ""


def list_faults(scope: SelectScope, *kinds: Fault) -> Iterator[tuple[exp.Column, str]]:
    """The columns with a fault of one of the kinds, with their folded names."""
    for column in list(scope.columns):
        if find_fault(column, scope) in kinds:
            yield column, scope.visible.spell(column.this)


def point_at(column: exp.Column, source: SelectSource, name: str, visible: TableLookup) -> None:
    """Makes the column refer to the source's column of that folded name, in place."""
    column.set("table", source.identifier.copy())
    if source.table is not None and visible.spell(column.this) != name:
        column.set("this", visible.build_identifier(visible.list_columns(source.table)[name]))


def compares_itself(
    column: exp.Column, source: SelectSource, name: str, visible: TableLookup
) -> bool:
    """True if the column would be compared with itself after ``point_at``.

    Such a condition would join every row with every row.
    """
    comparison = column.parent
    if not isinstance(comparison, exp.EQ):
        return False
    other = comparison.left if comparison.right is column else comparison.right
    return (
        isinstance(other, exp.Column)
        and other.args.get("table") is not None
        and visible.spell(other.this) == name
        and visible.spell(other.args["table"]) == visible.spell(source.identifier)
    )


def _read_source(name: str, source: QuerySource, visible: TableLookup) -> SelectSource:
    identifier = source.identifier or exp.to_identifier(name)
    if source.bracketed:
        # The rules change only the joins of the SELECT itself.
        return SelectSource(identifier, None, None)
    if source.query is not None:
        return SelectSource(identifier, None, _read_columns(source.query, source.renamed, visible))
    if source.table is None or source.renamed:
        return SelectSource(identifier, None, None)
    table = visible.find_table(source.table)
    return SelectSource(
        identifier, table, frozenset(visible.list_columns(table)) if table else None
    )


def _read_columns(
    query: exp.Query, renamed: Sequence[exp.Identifier], visible: TableLookup
) -> frozenset[str] | None:
    """The folded names of a query's columns; None if one of them is unknown."""
    outputs = list_outputs(query)
    if renamed:
        return frozenset(map(visible.spell, renamed)) if len(renamed) >= len(outputs) else None
    names = set()
    for output in outputs:
        name = output.args["alias"] if isinstance(output, exp.Alias) else output.this
        if not isinstance(output, exp.Alias | exp.Column) or not isinstance(name, exp.Identifier):
            return None
        names.add(visible.spell(name))
    return frozenset(names) if outputs else None
