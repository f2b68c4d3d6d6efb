"""The scopes in which names are resolved, and a catalog's names as its database compares them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from execution.guard_dialects import quote_fragment
from nl2sql.catalog import Catalog, Table
from nl2sql.sql.names import fold_name
from nl2sql.sql.nodes import read_identifier
from nl2sql.types import NOT_PERMITTED, Violation

# How names of the guard begin: ``_qsql_0``, ``_qsql_cte1``. No object may bear one: to DuckDB,
# ``_qsql_0.id`` in a subquery would be a field of a column ``_qsql_0`` there, rather than a column
# of the outer query.
MADE_UP = "_qsql_"


class Unresolved(Exception):
    """Ends the walk with a violation."""

    def __init__(self, code: str, fragment: str, message: str) -> None:
        super().__init__(message)
        self.violation = Violation(code, fragment[:80], message)


def refuse_node(node: exp.Expr, message: str, code: str = "node_not_allowed") -> Unresolved:
    """The error for a node, whose text it quotes."""
    return Unresolved(code, quote_fragment(node), message)


@dataclass(eq=False, slots=True)
class Source:
    """What a name in FROM refers to.

    ``columns`` are the folded names of its columns, in their order; the name of a column that no
    query can write is empty. ``renamed`` says that an alias has replaced some of them. ``table`` is
    set for a physical table; ``used`` are the folded names of its columns that the query uses, all
    of them if their number or order matters. ``origin`` is, for others, the query, function or
    output that produces the values, or the sources joined under one name.
    """

    columns: tuple[str, ...]
    table: Table | None = None
    used: set[str] = field(default_factory=set)
    renamed: bool = False
    origin: exp.Expr | tuple[Source, ...] | None = None


@dataclass(eq=False, slots=True)
class Scope:
    """One query around a name: its sources, and the outputs that some clauses may name.

    ``columns`` are the columns of all sources as a star lists them; ``headings`` the folded names
    that outputs got from ``guard_dialects.py``, which the query itself cannot name.
    """

    parent: Scope | None
    sources: dict[str, Source] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    outputs: frozenset[str] = frozenset()
    headings: frozenset[str] = frozenset()
    query: exp.Expr | None = None

    def list_outward(self) -> Iterator[Scope]:
        """This scope and those around it, the innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(eq=False, slots=True)
class Cte:
    """A CTE with its new name, which is empty as long as the CTE may not be used."""

    columns: tuple[str, ...]
    new_name: str
    query: exp.Expr | None = None


Ctes = dict[str, Cte]


@dataclass(eq=False, slots=True)
class Resolution:
    """What a query reads.

    ``tables`` are the nodes of physical tables, each with its table and source; ``groups`` the
    SELECTs with a GROUP BY. ``origins`` has the source of each column node, by the node's ``id``;
    ``selects`` the sources in the FROM of each SELECT, by their folded names. ``seen`` has the
    ``id`` of each table and column that is explained.
    """

    tables: list[tuple[exp.Table, Table, Source]] = field(default_factory=list)
    groups: list[exp.Select] = field(default_factory=list)
    origins: dict[int, Source] = field(default_factory=dict)
    selects: dict[int, dict[str, Source]] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)


class NameResolver:
    """Resolves the names of one catalog. Immutable, apart from a cache of columns.

    ``aliases_everywhere``: an output's name can be used in every clause of its query.
    ``has_whole_rows``: a table's name can denote its row.
    """

    def __init__(self, catalog: Catalog, hidden: Catalog | None = None) -> None:
        """``hidden`` is the whole catalog, of which ``catalog`` is the visible part."""
        self.catalog = catalog
        self._hidden = hidden or catalog
        self.dialect = catalog.dialect
        self.aliases_everywhere = self.dialect in ("sqlite", "duckdb")
        self.has_whole_rows = self.dialect in ("postgres", "duckdb")
        self._columns: dict[str, dict[str, str]] = {}

    def fold(self, name: exp.Identifier) -> str:
        """A form of the name that is equal for all its spellings."""
        return read_identifier(name, self.dialect)

    def find_table(self, node: exp.Table) -> Table:
        """The physical table that the node names. Raises Unresolved."""
        schema = node.args.get("db")
        if node.args.get("catalog") or not isinstance(node.this, exp.Identifier):
            raise Unresolved("unknown_table", node.name, f"There is no table {node.name} here.")
        name, within = self._spell(node.this), self._spell(schema) if schema else ""
        if (table := self.catalog.resolve(name, within)) is not None:
            return table
        fragment = f"{within}.{name}" if within else name
        if self._hidden.resolve(name, within) is not None:
            raise Unresolved(
                NOT_PERMITTED, fragment, f"The table {fragment} is not among those you may read."
            )
        raise Unresolved("unknown_table", fragment, f"There is no table {fragment} here.")

    def list_columns(self, table: Table) -> tuple[str, ...]:
        """The folded names of a table's columns, in their order."""
        return tuple(self._map_columns(table))

    def fold_table(self, table: Table) -> tuple[str, str]:
        """The folded names of a table's schema and of the table."""
        return self._fold_stored(table.schema), self._fold_stored(table.name)

    def spell_column(self, table: Table, folded: str) -> str:
        """The column's name as the catalog spells it."""
        return self._map_columns(table)[folded]

    def _map_columns(self, table: Table) -> dict[str, str]:
        """The folded name of each column → its name."""
        columns = self._columns.get(table.qualified)
        if columns is None:
            columns = {self._fold_stored(column.name): column.name for column in table.columns}
            self._columns[table.qualified] = columns
        return columns

    def refuse_column(self, sources: Iterable[Source], name: str, node: exp.Expr) -> Unresolved:
        """The error for a column that no source shows; it says whether one hides it."""
        written = quote_fragment(node)
        if any(self._hides(source, name) for source in sources):
            message = f"The column {written} is not among those you may read."
            return Unresolved(NOT_PERMITTED, written, message)
        return Unresolved("unknown_column", written, f"There is no column {written}.")

    def _hides(self, source: Source, name: str) -> bool:
        if isinstance(source.origin, tuple):
            return any(self._hides(part, name) for part in source.origin)
        table = self._hidden.table(source.table.qualified) if source.table is not None else None
        if table is None or name in source.columns:
            return False
        return any(self._fold_stored(column.name) == name for column in table.columns)

    def _spell(self, identifier: exp.Identifier) -> str:
        return self.fold(identifier) if self.dialect == "postgres" else identifier.name

    def _fold_stored(self, name: str) -> str:
        return name if self.dialect == "postgres" else fold_name(name, "sqlite")
