"""Fakes of the guard, the executor, catalogs and visibility."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from nl2sql.catalog import Catalog, ForeignKey
from nl2sql.errors import IndexUnavailable
from nl2sql.types import (
    Diagnostic,
    ExecutionLimits,
    Explained,
    GuardedQuery,
    Principal,
    ResultSet,
    Violation,
)
from tests.fakes.builders import build_guarded
from tests.fakes.index import FakeIndexStore
from tests.fakes.queue import Queue


class FakeGuard:
    """Passes everything unchanged, as a query on orders, except the SQL with a verdict."""

    def __init__(self, verdicts: Mapping[str, GuardedQuery | Violation] | None = None) -> None:
        self._verdicts = dict(verdicts or {})
        self.guarded: list[tuple[str, str, Principal]] = []

    async def guard(
        self, database: str, sql: str, principal: Principal
    ) -> GuardedQuery | Violation:
        """The verdict on the SQL."""
        self.guarded.append((database, sql, principal))
        return self._verdicts.get(sql) or build_guarded(sql, "sales.orders", database=database)


class FakeExecutor:
    """Queued answers for each SQL. Without a queued EXPLAIN, the cost is 10."""

    def __init__(
        self,
        results: Mapping[str, Sequence[ResultSet | Diagnostic | Exception]] | None = None,
        explains: Mapping[str, Sequence[Explained | Diagnostic | Exception]] | None = None,
    ) -> None:
        self._results = {sql: Queue(sql, queue) for sql, queue in (results or {}).items()}
        self._explains = {sql: Queue(sql, queue) for sql, queue in (explains or {}).items()}
        self.explained: list[GuardedQuery] = []
        self.executed: list[tuple[GuardedQuery, int]] = []
        self.limits: list[ExecutionLimits | None] = []

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic:
        """The next EXPLAIN of that SQL."""
        self.explained.append(query)
        if query.sql not in self._explains:
            return Explained(cost=10.0, rows=1.0)
        return self._explains[query.sql].next((Explained, Diagnostic), query)  # type: ignore[arg-type]

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        """The next result of that SQL."""
        self.executed.append((query, max_rows))
        self.limits.append(limits)
        assert query.sql in self._results, f"no result is queued for {query.sql!r}"
        return self._results[query.sql].next((ResultSet, Diagnostic), query)  # type: ignore[arg-type]


class FakeCatalogs:
    """A catalog source; a database without a catalog was never indexed."""

    def __init__(self, *catalogs: Catalog) -> None:
        self.catalogs = {catalog.database: catalog for catalog in catalogs}
        self.requests: list[str] = []

    async def catalog(self, database: str) -> Catalog:
        """The catalog of that database, always the same object."""
        self.requests.append(database)
        if database not in self.catalogs:
            raise IndexUnavailable(f"The database {database!r} has not been indexed.")
        return self.catalogs[database]


class FakeVisibility:
    """Shows a store's catalogs without the ``hidden`` names, or nothing given a ``refusal``.

    ``hidden`` names tables (``schema.table``) and columns (``schema.table.column``), ``masked``
    columns. The same catalog is always shown as the same object.
    """

    def __init__(
        self,
        store: FakeIndexStore,
        hidden: Collection[str] = (),
        refusal: Violation | None = None,
        open_columns: Collection[str] | None = None,
        masked: Collection[str] = (),
    ) -> None:
        self._store = store
        self._hidden = hidden
        self._refusal = refusal
        self._masked = masked
        self._open = None if open_columns is None else frozenset(open_columns)
        self._shown: dict[int, tuple[Catalog, Catalog]] = {}

    async def visible_catalog(self, database: str, principal: Principal) -> Catalog | Violation:
        """The stored catalog without the hidden names."""
        if self._refusal is not None:
            return self._refusal
        index = self._store.indexes.get(database)
        if index is None:
            return Catalog(database, ())
        whole = index.catalog
        if id(whole) not in self._shown:
            self._shown[id(whole)] = (whole, self._hide(whole))
        return self._shown[id(whole)][1]

    def _hide(self, whole: Catalog) -> Catalog:
        tables = {
            table.qualified: replace(
                table,
                columns=tuple(
                    column
                    for column in table.columns
                    if f"{table.qualified}.{column.name}" not in self._hidden
                ),
            )
            for table in whole.tables
            if table.qualified not in self._hidden
        }

        def shows(key: ForeignKey) -> bool:
            ends = ((key.table, key.columns), (key.target, key.target_columns))
            return all(
                name in tables and all(tables[name].column(column) for column in columns)
                for name, columns in ends
            )

        return replace(
            whole,
            tables=tuple(tables.values()),
            foreign_keys=tuple(filter(shows, whole.foreign_keys)),
            inferred_keys=tuple(filter(shows, whole.inferred_keys)),
        )

    async def open_columns(self, database: str, principal: Principal) -> frozenset[str] | None:
        """The given columns; None: all."""
        return self._open

    async def describe_rows(
        self, database: str, principal: Principal, tables: Iterable[str]
    ) -> tuple[tuple[str, str], ...]:
        """Every row of them."""
        return ()

    async def masked_columns(
        self, database: str, principal: Principal, table: str
    ) -> frozenset[str]:
        """Those of the given columns that the table has."""
        names = (name.rpartition(".") for name in self._masked)
        return frozenset(column for owner, _, column in names if owner == table)
