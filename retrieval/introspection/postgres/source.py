"""A PostgreSQL database as a ``SourceDatabase``; reads values in read-only mode.

The planner's statistics, if there are any, exclude columns with too many or too long values without
a scan. A changed table is recognised by its statistics counters and its file. A change is missed if
the counters were reset and reached the same numbers. Where there are none (on a standby, of foreign
tables, or switched off), values are read every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

import psycopg
from psycopg import sql

from nl2sql.catalog import Catalog, Table
from retrieval.introspection.postgres.catalog import connect, read_sql
from retrieval.introspection.source_database import SourceDatabase, TextColumn, Unreadable

# Estimates of distinct values are rarely too high, so a column above this factor has too many.
_MARGIN = 1.5
_KINDS = ("table", "materialized view")
_SURVEY_TIMEOUT_MS = 60_000


class PostgresSource(SourceDatabase[psycopg.Connection[Any]]):
    """The database whose schema ``read_catalog`` reads.

    ``find_values_login`` returns the URL and the role for reading values; an empty role is that of
    the login.
    """

    errors = psycopg.Error

    def __init__(
        self,
        database: str,
        read_catalog: Callable[[], Catalog],
        find_values_login: Callable[[], tuple[str, str]],
    ) -> None:
        super().__init__(database)
        self._read_catalog = read_catalog
        self._find_values_login = find_values_login
        self._role = ""

    def read_catalog(self) -> Catalog:
        """See ``SourceDatabase``."""
        return self._read_catalog()

    def _connect(self) -> psycopg.Connection[Any]:
        url, self._role = self._find_values_login()
        # Nothing may outlive a transaction: behind a pooler, the next is on another connection.
        return connect(url, self._database, autocommit=True, prepare_threshold=None)

    @contextmanager
    def _reading(self, timeout_ms: int) -> Iterator[psycopg.Connection[Any]]:
        """A read-only transaction under the role, each of whose statements may take that long."""
        with self._open.transaction():
            # Table names are qualified; operators and functions must be PostgreSQL's own.
            self._open.execute(
                f"SET TRANSACTION READ ONLY; SET LOCAL statement_timeout = {timeout_ms:d};"
                " SET LOCAL search_path = pg_catalog"
            )
            if self._role:
                self._open.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(self._role)))
            yield self._open

    def survey(self, tables: Sequence[Table], *, most: int, longest: int) -> list[TextColumn]:
        """All text and enumeration columns. Raises DatabaseUnavailable."""
        wanted = {(table.schema, table.name): table for table in tables if table.kind in _KINDS}
        schemas = {"schemas": sorted({schema for schema, _ in wanted})}
        try:
            with self._reading(_SURVEY_TIMEOUT_MS) as connection:
                marks = {
                    (schema, name): (rows, mark)
                    for schema, name, rows, mark in connection.execute(
                        read_sql("marks.sql"), schemas
                    )
                }
                columns = connection.execute(read_sql("text_columns.sql"), schemas).fetchall()
                statistics = {
                    (schema, name, column): (distinct, width)
                    for schema, name, column, distinct, width in connection.execute(
                        read_sql("statistics.sql"), schemas
                    )
                }
        except psycopg.Error as error:
            raise self._build_unavailable(error) from error
        found: list[TextColumn] = []
        for schema, name, column in columns:
            table = wanted.get((schema, name))
            if table is None or table.column(column) is None:
                continue
            rows, mark = marks.get((schema, name), (0, ""))
            distinct, width = statistics.get((schema, name, column), (0, 0))
            if distinct < 0:
                distinct *= -rows
            objection = ""
            if distinct > _MARGIN * most:
                objection = "too many distinct values, by the statistics"
            elif width > longest:
                objection = "too long on average, by the statistics"
            found.append(TextColumn(table, column, mark, objection))
        return sorted(found, key=attrgetter("qualified"))

    def fetch(self, query: str, timeout_ms: int) -> list[tuple[Any, ...]] | Unreadable:
        """See ``SourceDatabase``."""
        try:
            with self._reading(timeout_ms) as connection:
                return connection.execute(query.encode()).fetchall()
        except psycopg.errors.QueryCanceled:
            return Unreadable(f"took longer than {timeout_ms} ms", timed_out=True)
        except psycopg.Error as error:
            if self._open.broken:
                raise self._build_unavailable(error) from error
            return Unreadable(self._describe(error))

    def _write_text(self, column: str) -> str:
        return f"{column}::text"
