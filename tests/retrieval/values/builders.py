"""Values without a database and without a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from nl2sql.catalog import Catalog, Table
from retrieval.index_store.value_store import ValueColumn, ValueStore
from retrieval.introspection.source_database import SourceDatabase, TextColumn, Unreadable
from retrieval.values.dictionary import ValueDictionary, ValueMemory
from tests.fakes import FakeIndexStore


class FakeValues(SourceDatabase[Any]):
    """``rows`` gives the values, or why there are none, by qualified column; all share ``mark``."""

    def __init__(self, rows: Mapping[str, Sequence[str] | Unreadable], mark: str = "m1") -> None:
        super().__init__("fake")
        self.rows = dict(rows)
        self.mark = mark
        self.reads: list[str] = []

    def read_catalog(self) -> Catalog:
        raise NotImplementedError

    def _connect(self) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def fetch(self, query: str, timeout_ms: int) -> list[tuple[Any, ...]] | Unreadable:
        raise NotImplementedError

    def survey(self, tables: Sequence[Table], *, most: int, longest: int) -> list[TextColumn]:
        return [
            TextColumn(table, column.name, self.mark)
            for table in tables
            for column in table.columns
            if column.type == "text"
        ]

    def read(
        self, table: Table, column: str, *, most: int, longest: int, timeout_ms: int
    ) -> tuple[str, ...] | Unreadable:
        name = f"{table.qualified}.{column}"
        self.reads.append(name)
        found = self.rows.get(name, ())
        return found if isinstance(found, Unreadable) else tuple(found)[:most]


class FakeMemory(ValueMemory):
    """The same values for every database; ``error`` is raised in their place."""

    def __init__(self, *columns: ValueColumn, error: Exception | None = None) -> None:
        super().__init__(ValueStore(FakeIndexStore()))
        self._dictionary = ValueDictionary(columns)
        self._error = error

    async def dictionary(self, database: str) -> ValueDictionary:
        if self._error is not None:
            raise self._error
        return self._dictionary
