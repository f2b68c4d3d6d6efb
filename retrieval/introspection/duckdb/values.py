"""Reads distinct values of text columns from a DuckDB file, opened read-only.

A change is recognised by the file's modification time and size.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Self

import duckdb

from nl2sql.catalog import Table
from nl2sql.duckdb_files import ATTACHED
from nl2sql.errors import DatabaseUnavailable
from nl2sql.sql.column_kinds import TEXTS, find_kind
from nl2sql.sql.names import enquote
from retrieval.introspection.database_files import (
    describe_duckdb_error,
    open_duckdb_file,
    read_file_mark,
)
from retrieval.introspection.source_database import HeldConnection, TextColumn, Unreadable

_MEMORY = "512MB"


class DuckDbValues(HeldConnection):
    """The values of the file at ``path``."""

    def __init__(self, path: Path, *, database: str) -> None:
        self._path = path
        self._database = database
        self._connection: duckdb.DuckDBPyConnection | None = None

    def __enter__(self) -> Self:
        """Opens the file. Raises DatabaseUnavailable."""
        try:
            self._connection = open_duckdb_file(self._path, memory=_MEMORY)
        except duckdb.Error as error:
            raise DatabaseUnavailable(
                f"Cannot read values of {self._path}: {describe_duckdb_error(error)}",
                database=self._database,
            ) from error
        return self

    def survey(self, tables: Sequence[Table], *, most: int, longest: int) -> list[TextColumn]:
        """All text and enumeration columns."""
        mark = read_file_mark(self._path, ".wal")
        return [
            TextColumn(table, column.name, mark)
            for table in tables
            if table.kind == "table"
            for column in table.columns
            if find_kind(column.type, "duckdb") in TEXTS
        ]

    def read(
        self, table: Table, column: str, *, most: int, longest: int, timeout_ms: int
    ) -> tuple[str, ...] | Unreadable:
        """At most ``most`` distinct values of 1 to ``longest`` characters."""
        assert self._connection is not None, "use it in a with statement"
        name = enquote(column)
        where = f"{ATTACHED}.{enquote(table.schema)}.{enquote(table.name)}"
        query = (
            f"SELECT DISTINCT {name}::VARCHAR FROM {where}"
            f" WHERE length({name}::VARCHAR) BETWEEN 1 AND {longest:d} LIMIT {most:d}"
        )
        alarm = threading.Timer(timeout_ms / 1000, self._connection.interrupt)
        alarm.start()
        try:
            rows = self._connection.execute(query).fetchall()
        except duckdb.InterruptException:
            return Unreadable(f"took longer than {timeout_ms} ms", timed_out=True)
        except duckdb.Error as error:
            return Unreadable(describe_duckdb_error(error))
        finally:
            alarm.cancel()
        return tuple(row[0] for row in rows)
