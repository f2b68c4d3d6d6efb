"""Where the warehouse is written: a file of SQLite or DuckDB, or a database of PostgreSQL.

It is read through the product's own connections. PostgreSQL and SQLite are analysed; DuckDB keeps
statistics by itself. Rows lie in the same order on both sides.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import duckdb
from psycopg import sql

from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer, grant_reader
from execution.sqlite.database import SqliteDatabase
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from nl2sql.types import GuardedQuery
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.oracle.file_stage import SqliteSession
from tests.oracle.metamorphic import warehouse
from tests.oracle.metamorphic.verdicts import MOST_ROWS
from tests.oracle.metamorphic.warehouse import NAME, Tables
from tests.oracle.outcomes import describe_difference
from tests.oracle.postgres_copies import open_superuser
from tests.oracle.postgres_session import PostgresSession
from tests.oracle.stage import PLANS
from tests.oracle.verdicts import may_order

LIMITS = LimitSettings(statement_timeout_ms=3000, pool_size=1, duckdb_memory_mib=256)
_PRAGMAS = ((), ("reverse_unordered_selects = ON",), ("automatic_index = OFF",))


class FileStore:
    """Files in a folder; ``name`` says which of its warehouses is meant."""

    def __init__(self, folder: Path, dialect: str) -> None:
        self._folder = folder
        self._dialect = dialect

    def write(self, name: str, rows: Tables) -> None:
        """Raises OSError, sqlite3.Error, duckdb.Error."""
        statements = [
            (
                f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})",
                [row[: len(columns)] for row in rows[table]],
            )
            for table, columns in warehouse.COLUMNS.items()
            if rows[table]
        ]
        if self._dialect == "duckdb":
            with closing(duckdb.connect(self._path(name))) as duck:
                duck.execute(warehouse.SCRIPT)
                duck.execute("BEGIN")
                for insert, found in statements:
                    duck.executemany(insert, found)
                duck.execute("COMMIT")
            return
        with closing(sqlite3.connect(self._path(name))) as connection:
            connection.executescript(warehouse.SCRIPT)
            for insert, found in statements:
                connection.executemany(insert, found)
            connection.execute("ANALYZE")
            connection.commit()

    def read_catalog(self, name: str) -> Catalog:
        read = read_duckdb_catalog if self._dialect == "duckdb" else read_sqlite_catalog
        return read(self._path(name), database=NAME)

    def open(self, name: str) -> Database:
        kind = DuckDbDatabase if self._dialect == "duckdb" else SqliteDatabase
        return kind(NAME, self._path(name), LIMITS)

    def is_open(self, left: str, right: str, query: GuardedQuery) -> bool:
        """Whether the first alone gives several answers to the query, as it is planned or read.

        Never on DuckDB, whose plan cannot be changed.
        """
        if self._dialect == "duckdb":
            return False
        answers = []
        for pragmas in _PRAGMAS:
            with closing(SqliteSession(self._path(left), pragmas=pragmas)) as session:
                answers.append(session.run(query.sql, query.params))
        return any(describe_difference(answers[0], answer) for answer in answers[1:])

    def remove(self, name: str) -> None:
        self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.{self._dialect}"


class PostgresStore:
    """Databases of a server. Raises psycopg.Error."""

    def __init__(self, server: EmbeddedServer) -> None:
        self._server = server

    def write(self, name: str, rows: Tables) -> None:
        database = _name_database(name)
        self._server.drop_database(database)
        self._server.create_database(database)
        with open_superuser(self._server, database) as connection:
            connection.execute(warehouse.POSTGRES_SCRIPT.encode())
            for table, found in rows.items():
                slots = sql.SQL(", ").join(
                    sql.Placeholder() * len(warehouse.POSTGRES_COLUMNS[table])
                )
                statement = sql.SQL("INSERT INTO {} VALUES ({})").format(
                    sql.Identifier("main", table), slots
                )
                connection.cursor().executemany(statement, found)
            grant_reader(connection)
            connection.execute("VACUUM ANALYZE")

    def read_catalog(self, name: str) -> Catalog:
        url = self._server.url(_name_database(name), SUPERUSER)
        return read_postgres_catalog(url, database=NAME, reader_role=READER, schemas=("main",))

    def open(self, name: str) -> Database:
        database = _name_database(name)
        url = self._server.url(database, READER)
        return PostgresDatabase(database, url, LIMITS, search_path=("main",))

    def is_open(self, left: str, right: str, query: GuardedQuery) -> bool:
        """Also where each gave a page of the same rows, in no order that the query asks for."""
        with (
            closing(self._connect(left)) as one,
            closing(self._connect(right)) as other,
        ):
            return _is_other_page(one, other, query) or _answers_otherwise(one, query)

    def remove(self, name: str) -> None:
        self._server.drop_database(_name_database(name))

    def _connect(self, name: str) -> PostgresSession:
        return PostgresSession(self._server, _name_database(name), ("main",))


Store = FileStore | PostgresStore


def _name_database(name: str) -> str:
    return f"{NAME}_{name}"


def _is_other_page(left: PostgresSession, right: PostgresSession, query: GuardedQuery) -> bool:
    if may_order(query.sql):
        return False
    one, other = (session.run(query.sql, query.params) for session in (left, right))
    is_page = one.complete and other.complete and len(one.rows) > MOST_ROWS
    return is_page and not describe_difference(one, other)


def _answers_otherwise(session: PostgresSession, query: GuardedQuery) -> bool:
    page = f"SELECT * FROM (\n{query.sql}\n) AS page LIMIT {MOST_ROWS + 1}"
    plans: Sequence[Sequence[str]] = ((), *PLANS)
    usual, *others = (session.run(page, query.params, planner=plan) for plan in plans)
    return any(describe_difference(usual, answer) for answer in others)
