"""The queries of key inference, and who runs them on each kind of database.

Each looks at no more than some thousand rows and gives up after two seconds, so that one huge or
slow table costs little. All run as the role that runs questions: nothing is inferred from what it
may not read. Which rows are looked at is the database's choice.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import duckdb
import psycopg
from psycopg import sql

from nl2sql.catalog import Table
from nl2sql.errors import DatabaseUnavailable
from nl2sql.names import enquote
from retrieval.index_store.database_files import open_duckdb_file, open_sqlite_file
from retrieval.joins.inference import Containment

_MOST_ROWS = 5000
_MOST_VALUES = 200
_TIMEOUT_S = 2.0
_INSTRUCTIONS_PER_LOOK = 50_000

_Run = Callable[[str], tuple[Any, ...] | None]


class SqlSampler:
    """The sampler over ``run``, which gives a query's one row, or None where it failed."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    def contain(
        self, table: Table, columns: tuple[str, ...], target: Table, target_columns: tuple[str, ...]
    ) -> Containment | None:
        """See ``retrieval.joins.inference.Sampler``."""
        row = self._run(write_containment(table, columns, target, target_columns))
        return Containment(row[0], row[1]) if row is not None else None

    def is_unique(self, table: Table, columns: tuple[str, ...]) -> bool:
        """See ``retrieval.joins.inference.Sampler``."""
        row = self._run(write_uniqueness(table, columns))
        return row is not None and row[0] > 0 and row[0] == row[1]


@contextmanager
def open_postgres_sampler(url: str, *, database: str, role: str = "") -> Iterator[SqlSampler]:
    """Over a connection of its own, as ``role`` where one is named. Raises DatabaseUnavailable."""
    options = (
        f"-c default_transaction_read_only=on -c statement_timeout={int(_TIMEOUT_S * 1000)} "
        # Tables are named with their schemas; equality is to be PostgreSQL's own.
        "-c search_path=pg_catalog"
    )
    try:
        connection = psycopg.connect(url, connect_timeout=5, autocommit=True, options=options)
        if role:
            connection.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(role)))
    except psycopg.Error as error:
        raise _unavailable(database, error) from error

    def run(query: str) -> tuple[Any, ...] | None:
        try:
            return connection.execute(query.encode()).fetchone()
        except psycopg.Error as error:
            if connection.broken:
                raise _unavailable(database, error) from error
            return None

    with closing(connection):
        yield SqlSampler(run)


@contextmanager
def open_sqlite_sampler(path: Path, *, database: str) -> Iterator[SqlSampler]:
    """Over the file, opened read-only. Raises DatabaseUnavailable."""
    try:
        connection = open_sqlite_file(path)
    except sqlite3.Error as error:
        raise _unavailable(database, error) from error

    def run(query: str) -> tuple[Any, ...] | None:
        deadline = time.monotonic() + _TIMEOUT_S
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _INSTRUCTIONS_PER_LOOK)
        try:
            row: tuple[Any, ...] | None = connection.execute(query).fetchone()
        except sqlite3.Error:
            return None
        return row

    with closing(connection):
        yield SqlSampler(run)


@contextmanager
def open_duckdb_sampler(path: Path, *, database: str) -> Iterator[SqlSampler]:
    """Over the file, attached read-only to a closed instance. Raises DatabaseUnavailable."""
    try:
        connection = open_duckdb_file(path)
    except duckdb.Error as error:
        raise _unavailable(database, error) from error

    def run(query: str) -> tuple[Any, ...] | None:
        alarm = Timer(_TIMEOUT_S, connection.interrupt)
        alarm.start()
        try:
            row: tuple[Any, ...] | None = connection.execute(query).fetchone()
        except duckdb.Error:
            return None
        finally:
            alarm.cancel()
        return row

    with closing(connection):
        yield SqlSampler(run)


def write_containment(
    table: Table, columns: tuple[str, ...], target: Table, target_columns: tuple[str, ...]
) -> str:
    """Counts the distinct values of some rows, and those of them that the target has.

    It reads the same to all three databases: names are quoted, and nothing else is put in.
    """
    names = ", ".join(enquote(column) for column in columns)
    present = " AND ".join(f"{enquote(column)} IS NOT NULL" for column in columns)
    equal = " AND ".join(
        f"t.{enquote(theirs)} = v.{enquote(mine)}"
        for mine, theirs in zip(columns, target_columns, strict=True)
    )
    rows = f"SELECT {names} FROM {_quote_table(table)} WHERE {present} LIMIT {_MOST_ROWS}"
    values = f"SELECT DISTINCT {names} FROM ({rows}) AS r LIMIT {_MOST_VALUES}"
    found = f"EXISTS (SELECT 1 FROM {_quote_table(target)} AS t WHERE {equal})"
    return (
        f"SELECT count(*), coalesce(sum(p.found), 0) FROM ("
        f"SELECT CASE WHEN {found} THEN 1 ELSE 0 END AS found FROM ({values}) AS v) AS p"
    )


def write_uniqueness(table: Table, columns: tuple[str, ...]) -> str:
    """Counts some rows, and their distinct values without NULL."""
    names = ", ".join(enquote(column) for column in columns)
    present = " AND ".join(f"{enquote(column)} IS NOT NULL" for column in columns)
    rows = f"SELECT {names} FROM {_quote_table(table)} LIMIT {_MOST_ROWS}"
    return (
        f"SELECT (SELECT count(*) FROM ({rows}) AS a), "
        f"(SELECT count(*) FROM (SELECT DISTINCT {names} FROM ({rows}) AS b WHERE {present}) AS c)"
    )


def _quote_table(table: Table) -> str:
    return f"{enquote(table.schema)}.{enquote(table.name)}"


def _unavailable(database: str, error: Exception) -> DatabaseUnavailable:
    reason = (str(error).strip() or type(error).__name__).split("\n", 1)[0]
    return DatabaseUnavailable(f"Cannot sample {database}: {reason}", database=database)
