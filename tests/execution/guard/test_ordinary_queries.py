"""Of 300 ordinary queries on each database nearly all run, with their own result and headings.

The lists were written before it was known what passes. Each query runs plainly first, so that none
is wrong by itself; then the guard's query runs on the database object of the service. What is
refused is told in docs/explanation/threat-model.md.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import psycopg

from data.demo_erp import MODULES
from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.guard.guard import guard_query
from execution.policies.access import open_access
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from execution.sqlite.database import SqliteDatabase
from nl2sql.catalog import Catalog
from nl2sql.results.cell_values import normalize_value
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, Violation
from retrieval.introspection.duckdb.catalog import read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.sqlite.catalog import read_sqlite_catalog
from tests.execution.ordinary import FIXTURES, LEAST_ANSWERED, read_ordinary

DATABASE = "demo_erp"
LIMITS = LimitSettings(pool_size=1, duckdb_memory_mib=512)
MOST_ROWS = 1000

Result = tuple[tuple[str, ...], list[tuple[object, ...]]]


async def test_ordinary_queries_on_postgresql(embedded_server: EmbeddedServer) -> None:
    catalog = read_postgres_catalog(
        embedded_server.url(DATABASE, SUPERUSER),
        database=DATABASE,
        reader_role=READER,
        schemas=MODULES,
    )
    url = embedded_server.url(DATABASE, READER)
    options = f"-c search_path={','.join(MODULES)}"
    with psycopg.connect(url, autocommit=True, options=options) as connection:

        def fetch(sql: str) -> Result:
            cursor = connection.execute(sql.encode())
            columns = [tuple(column) for column in cursor.description or ()]
            return read(columns, cursor.fetchmany(MOST_ROWS))

        database = PostgresDatabase(DATABASE, url, LIMITS, search_path=MODULES)
        await check(read_ordinary("postgres"), catalog, database, fetch)


async def test_ordinary_queries_on_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(read_schema("sqlite"))

        def fetch(sql: str) -> Result:
            cursor = connection.execute(sql)
            return read(cursor.description, cursor.fetchmany(MOST_ROWS))

        catalog = read_sqlite_catalog(path, database="shop")
        database = SqliteDatabase("shop", path, LIMITS)
        await check(read_ordinary("shared", "sqlite"), catalog, database, fetch)


async def test_ordinary_queries_on_duckdb(tmp_path: Path) -> None:
    path = tmp_path / "shop.duckdb"
    with closing(duckdb.connect(path)) as connection:
        connection.execute(read_schema("duckdb"))
    with closing(duckdb.connect(path, read_only=True)) as connection:
        queries = read_ordinary("shared", "duckdb")

        def run(sql: str) -> Result:
            cursor = connection.execute(sql)
            columns = [tuple(column) for column in cursor.description or ()]
            return read(columns, cursor.fetchmany(MOST_ROWS))

        # One process cannot have the file open in two ways.
        results = {sql: run(sql) for sql in queries}
    catalog = read_duckdb_catalog(path, database="shop")
    database = DuckDbDatabase("shop", path, LIMITS)
    await check(queries, catalog, database, results.__getitem__)


async def check(
    queries: list[str], catalog: Catalog, database: Database, fetch: Callable[[str], Result]
) -> None:
    assert len(queries) == 300 == len(set(queries))
    refused, changed = [], []
    access = open_access(catalog)
    for sql in queries:
        expected = fetch(sql)
        verdict = guard_query(sql, access)
        if isinstance(verdict, Violation):
            refused.append(f"{sql}\n  {verdict.code}: {verdict.message}")
            continue
        result = await database.execute(verdict, MOST_ROWS)
        if isinstance(result, Diagnostic):
            refused.append(f"{sql}\n  {result.sqlstate}: {result.message}")
        elif (result.columns, normalize(result.rows)) != (expected[0], normalize(expected[1])):
            changed.append(f"{sql}\n  {verdict.sql}\n  {expected}\n  {result}")
    await database.close()
    assert not changed, "\n".join(changed)
    assert len(queries) - len(refused) >= LEAST_ANSWERED, "\n".join(refused)


def read(described: Iterable[Sequence[object]], rows: list[tuple[object, ...]]) -> Result:
    return tuple(str(column[0]) for column in described), rows


def normalize(rows: Iterable[tuple[object, ...]]) -> list[list[object]]:
    # The drivers' intervals have no months, so their length is another than the service's.
    return [
        [None if isinstance(cell, dt.timedelta) else normalize_value(cell) for cell in row]
        for row in rows
    ]


def read_schema(name: str) -> str:
    return (FIXTURES / f"ordinary_schema_{name}.sql").read_text(encoding="utf-8")
