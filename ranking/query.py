"""A parsed candidate for lint and score, which finds the table and column that a name refers to.

Types, keys and nullability are those of the tables that retrieval found. A column of any other
table, a computed column of a derived table, or one that two tables have stays unknown, and unknown
columns never count against a candidate. Names are compared without case. Nothing here decides what
may run: the guard does, which resolves names by the database's own rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from networkx.utils import UnionFind
from sqlglot import exp
from sqlglot.errors import SqlglotError

from nl2sql.catalog import Column, ForeignKey, Table
from nl2sql.sql.column_kinds import Kind, find_kind
from nl2sql.sql.nodes import Node, find_all, list_selects
from nl2sql.sql.parsing import read_tree
from nl2sql.sql.scopes import QuerySource, find_outer, fold_case, list_outputs, read_sources
from nl2sql.types import SchemaContext

# Resolving names takes time that grows with the square of this.
_MOST_CHARS = 10_000

# A catalog table, the query of a derived table, or None if nothing is known.
Meaning = Table | exp.Query | None


@dataclass(frozen=True, slots=True)
class ColumnUse:
    """The table column to which a name refers. ``outer``: it belongs to an enclosing query."""

    source: str
    table: Table
    column: Column
    outer: bool = False

    @property
    def name(self) -> str:
        """``schema.table.column``."""
        return f"{self.table.qualified}.{self.column.name}"


class Query:
    """One parsed query over known tables."""

    def __init__(
        self,
        tree: exp.Expr,
        dialect: str = "postgres",
        tables: Sequence[Table] = (),
        keys: Sequence[ForeignKey] = (),
    ) -> None:
        self.tree = tree
        self.dialect = dialect
        self._tables: dict[str, list[Table]] = {}
        for table in tables:
            self._tables.setdefault(table.name.lower(), []).append(table)
        # The columns that keys connect, over any number of hops, are one set.
        self._connected: UnionFind[str] = UnionFind()
        for key in keys:
            for source, target in zip(key.columns, key.target_columns, strict=False):
                self._connected.union(f"{key.table}.{source}", f"{key.target}.{target}")
        self._tied = {frozenset((key.table, key.target)) for key in keys}
        self._nodes: tuple[exp.Expr, ...] = ()
        self._found: dict[tuple[type[exp.Expr], ...], tuple[exp.Expr, ...]] = {}
        self._uses: dict[int, ColumnUse | None] = {}
        self._sources: dict[int, dict[str, Meaning]] = {}
        self._aliases: dict[int, frozenset[str]] = {}

    def find_all(self, *kinds: type[Node]) -> tuple[Node, ...]:
        """The nodes of these kinds, the root first, level by level. Do not change the tree."""
        if kinds not in self._found:
            self._nodes = self._nodes or tuple(find_all(self.tree, exp.Expr))
            self._found[kinds] = tuple(node for node in self._nodes if isinstance(node, kinds))
        return cast(tuple[Node, ...], self._found[kinds])

    def outermost(self) -> exp.Select | None:
        """The SELECT that determines the result's columns: of a UNION, the first."""
        return next(list_selects(self.tree), None)

    def outputs(self) -> Sequence[exp.Expr]:
        """The expressions of the result's columns; none if they depend on a star."""
        select = self.outermost()
        return () if select is None or select.is_star else select.expressions

    def resolve(self, column: exp.Expr) -> ColumnUse | None:
        """What the column refers to; None if it is unknown, or not a column."""
        if not isinstance(column, exp.Column):
            return None
        if id(column) not in self._uses:
            self._uses[id(column)] = None  # ends the recursion of a recursive CTE
            with suppress(RecursionError):
                self._uses[id(column)] = self._resolve(column, column.parent_select)
        return self._uses[id(column)]

    def sources(self, select: exp.Select) -> dict[str, Meaning]:
        """Alias (lower case) → the item of FROM with this alias."""
        if id(select) not in self._sources:
            found = read_sources(select, fold_case)
            self._sources[id(select)] = {
                name: self._find_meaning(source) for name, source in found.items()
            }
        return self._sources[id(select)]

    def kind_of(self, use: ColumnUse) -> Kind:
        """The kind of the column's values."""
        return find_kind(use.column.type, self.dialect)

    def name_values(self, use: ColumnUse) -> str:
        """A name for the column's values, the same for all columns that keys connect."""
        return self._connected[use.name] if self.is_key(use) else use.name

    def are_tied(self, left: Table, right: Table) -> bool:
        """True if a foreign key leads from one table to the other."""
        return frozenset((left.qualified, right.qualified)) in self._tied

    def is_key(self, use: ColumnUse) -> bool:
        """True if a foreign key starts or ends at the column."""
        return use.name in self._connected.parents

    def _resolve(self, column: exp.Column, select: exp.Select | None) -> ColumnUse | None:
        qualifier, name = column.table.lower(), column.name.lower()
        outer = False
        while select is not None:
            sources = self.sources(select)
            if qualifier:
                if qualifier in sources:
                    return self._look_up(sources[qualifier], qualifier, name, outer)
            else:
                found = [
                    use
                    for alias, source in sources.items()
                    if (use := self._look_up(source, alias, name, outer))
                ]
                if found:
                    return found[0] if len(found) == 1 else None
                if not all(isinstance(source, Table) for source in sources.values()):
                    return None
                if name in self._list_aliases(select):
                    return None
            select, outer = find_outer(select), True
        return None

    def _list_aliases(self, select: exp.Select) -> frozenset[str]:
        if id(select) not in self._aliases:
            names = frozenset(expression.alias.lower() for expression in select.expressions)
            self._aliases[id(select)] = names
        return self._aliases[id(select)]

    def _look_up(self, source: Meaning, alias: str, name: str, outer: bool) -> ColumnUse | None:
        if isinstance(source, Table):
            for column in source.columns:
                if column.name.lower() == name:
                    return ColumnUse(alias, source, column, outer)
        elif isinstance(source, exp.Query):
            for projection in list_outputs(source):
                if projection.alias_or_name.lower() == name:
                    inner = self.resolve(projection.unalias())
                    return ColumnUse(alias, inner.table, inner.column, outer) if inner else None
        return None

    def _find_meaning(self, source: QuerySource) -> Meaning:
        if source.renamed:
            return None
        if source.table is None:
            return source.query
        schema = source.table.db.lower()
        found = [
            table
            for table in self._tables.get(source.table.name.lower(), ())
            if not schema or table.schema.lower() == schema
        ]
        return found[0] if len(found) == 1 else None


def find_output(node: exp.Expr, select: exp.Select) -> exp.Expr:
    """The output that a number or an alias in GROUP BY or ORDER BY means, else ``node`` itself."""
    outputs = select.expressions
    if isinstance(node, exp.Literal) and node.is_int and 0 < int(node.name) <= len(outputs):
        return cast(exp.Expr, outputs[int(node.name) - 1].unalias())
    if isinstance(node, exp.Column) and not node.table:
        named = (each.unalias() for each in outputs if each.alias.lower() == node.name.lower())
        return next(named, node)
    return node


def read_query(
    sql: str,
    dialect: str,
    tables: Sequence[Table] = (),
    keys: Sequence[ForeignKey] = (),
) -> Query | None:
    """The query, or None if it does not parse or is longer than any model writes.

    >>> table = Table("s", "t", (Column("a", "integer"),))
    >>> query = read_query("SELECT A FROM t AS x", "postgres", [table])
    >>> [query.resolve(column).name for column in query.find_all(exp.Column)]
    ['s.t.a']
    """
    if len(sql) > _MOST_CHARS:
        return None
    try:
        return Query(read_tree(sql, dialect), dialect, tables, keys)
    except (SqlglotError, RecursionError):
        return None


def read_candidate(sql: str, context: SchemaContext) -> Query | None:
    """The candidate over the tables and keys that retrieval found; None if it does not parse."""
    tables = [hit.table for hit in context.tables]
    return read_query(sql, context.dialect, tables, context.foreign_keys)
