"""Of 300 ordinary queries on each database nearly all pass the guard with their own result.

The lists were written before it was known what passes; each query runs plainly first, so that none
is wrong by itself. What is refused is told in docs/explanation/threat-model.md.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import duckdb
import psycopg
import pytest

from data.demo_erp import MODULES
from execution.policies.access import open_access
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from nl2sql.catalog import Catalog, Column, Table
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.execution.ordinary import FIXTURES, LEAST_ALLOWED, Rows, read_ordinary, run_guarded

DATABASE = "demo_erp"


def check(queries: list[str], catalog: Catalog, fetch: object) -> None:
    assert callable(fetch)
    assert len(queries) == 300 == len(set(queries))
    report = run_guarded(queries, open_access(catalog), fetch, [fetch(sql) for sql in queries])
    assert not report.changed
    assert report.passed >= LEAST_ALLOWED[catalog.dialect], "\n".join(report.refused)


@pytest.fixture
def reader(embedded_server: EmbeddedServer) -> Iterator[psycopg.Connection]:
    url = embedded_server.url(DATABASE, READER)
    options = f"-c search_path={','.join(MODULES)}"
    with psycopg.connect(url, autocommit=True, options=options) as connection:
        yield connection


def test_ordinary_queries_on_postgresql(
    embedded_server: EmbeddedServer, reader: psycopg.Connection
) -> None:
    catalog = read_postgres_catalog(
        embedded_server.url(DATABASE, SUPERUSER),
        database=DATABASE,
        reader_role=READER,
        schemas=MODULES,
    )

    def fetch(sql: str) -> Rows:
        return reader.execute(sql.encode()).fetchall()

    check(read_ordinary("postgres"), catalog, fetch)


def test_ordinary_queries_on_sqlite() -> None:
    with sqlite3.connect(":memory:") as connection:
        connection.executescript(_read_schema("sqlite"))
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        columns = {
            name: connection.execute(f"SELECT name, type FROM pragma_table_info('{name}')")
            for (name,) in names
        }
        catalog = _build_catalog("sqlite", {name: list(rows) for name, rows in columns.items()})

        def fetch(sql: str) -> Rows:
            return connection.execute(sql).fetchall()

        check(read_ordinary("shared", "sqlite"), catalog, fetch)


def test_ordinary_queries_on_duckdb() -> None:
    with duckdb.connect(":memory:") as connection:
        connection.execute(_read_schema("duckdb"))
        rows = connection.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns "
            "ORDER BY table_name, ordinal_position"
        ).fetchall()
        columns: dict[str, list[tuple[str, str]]] = {}
        for table, name, kind in rows:
            columns.setdefault(table, []).append((name, kind))
        catalog = _build_catalog("duckdb", columns)

        def fetch(sql: str) -> Rows:
            return connection.execute(sql).fetchall()

        check(read_ordinary("shared", "duckdb"), catalog, fetch)


def _read_schema(name: str) -> str:
    return (FIXTURES / f"ordinary_schema_{name}.sql").read_text(encoding="utf-8")


def _build_catalog(dialect: str, columns: dict[str, list[tuple[str, str]]]) -> Catalog:
    tables = tuple(
        Table("main", name, tuple(Column(column, kind) for column, kind in rows))
        for name, rows in columns.items()
    )
    return Catalog("shop", tables, search_path=("main",), dialect=dialect)
