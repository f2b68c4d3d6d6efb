"""Reads distinct values of text columns from an SQLite file, opened read-only.

In SQLite a column's declared type is only a hint, so each value's type is checked: numbers in a
text column are left out. A change is recognised by the file's modification time and size.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from nl2sql.catalog import Table
from nl2sql.errors import DatabaseUnavailable
from nl2sql.sql.column_kinds import find_kind
from nl2sql.sql.names import enquote
from retrieval.introspection.database_files import open_sqlite_file, read_file_mark
from retrieval.introspection.source_database import HeldConnection, TextColumn, Unreadable

# Kinds of columns that may hold text; boolean columns often hold words.
_KINDS = frozenset({"", "text", "enum", "boolean"})
_INSTRUCTIONS_PER_CHECK = 50_000


class SqliteValues(HeldConnection):
    """The values of the file at ``path``."""

    def __init__(self, path: Path, *, database: str) -> None:
        self._path = path
        self._database = database
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        """Opens the file. Raises DatabaseUnavailable."""
        try:
            self._connection = open_sqlite_file(self._path)
        except sqlite3.Error as error:
            raise DatabaseUnavailable(
                f"Cannot read values of {self._path}: {error}", database=self._database
            ) from error
        return self

    def survey(self, tables: Sequence[Table], *, most: int, longest: int) -> list[TextColumn]:
        """All columns whose declared type, if any, allows text; SQLite has no statistics."""
        mark = read_file_mark(self._path, "-wal")
        return [
            TextColumn(table, column.name, mark)
            for table in tables
            if table.kind == "table"
            for column in table.columns
            if find_kind(column.type, "sqlite") in _KINDS
        ]

    def read(
        self, table: Table, column: str, *, most: int, longest: int, timeout_ms: int
    ) -> tuple[str, ...] | Unreadable:
        """At most ``most`` distinct values of 1 to ``longest`` characters."""
        assert self._connection is not None, "use it in a with statement"
        deadline = time.monotonic() + timeout_ms / 1000
        self._connection.set_progress_handler(
            lambda: time.monotonic() > deadline, _INSTRUCTIONS_PER_CHECK
        )
        name = enquote(column)
        query = (
            f"SELECT DISTINCT {name} FROM {enquote(table.name)}"
            f" WHERE typeof({name}) = 'text' AND length({name}) BETWEEN 1 AND ? LIMIT ?"
        )
        try:
            rows = self._connection.execute(query, (longest, most)).fetchall()
        except sqlite3.Error as error:
            if time.monotonic() > deadline:
                return Unreadable(f"took longer than {timeout_ms} ms", timed_out=True)
            return Unreadable(str(error))
        return tuple(row[0] for row in rows)
