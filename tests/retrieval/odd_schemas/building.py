"""Makes an odd schema for real, and reads its catalog."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from execution.postgres.embedded import READER, EmbeddedServer, grant_reader
from nl2sql.catalog import Catalog
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.retrieval.odd_schemas.file_schemas import ODD_DUCKDB_SCHEMAS, ODD_SQLITE_SCHEMAS
from tests.retrieval.odd_schemas.odd_schema import OddSchema
from tests.retrieval.odd_schemas.postgres_schemas import ODD_SCHEMAS

SCHEMAS = {"postgres": ODD_SCHEMAS, "sqlite": ODD_SQLITE_SCHEMAS, "duckdb": ODD_DUCKDB_SCHEMAS}
"""All odd schemas, by the kind of database that they are for."""


def find_odd(dialect: str, name: str) -> OddSchema:
    """The schema of that name."""
    return next(odd for odd in SCHEMAS[dialect] if odd.name == name)


def list_cases(*dialects: str) -> list[Any]:
    """Parameters for a test: each kind of database with each of its schemas."""
    return [
        pytest.param((dialect, odd), id=f"{dialect}-{odd.name}")
        for dialect in dialects
        for odd in SCHEMAS[dialect]
    ]


def build_on_postgres(server: EmbeddedServer, odd: OddSchema) -> None:
    """A database of the schema's name, made if it is not there yet: that takes a while."""
    with psycopg.connect(server.url("postgres", "postgres")) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (odd.name,))
        if known.fetchone():
            return
    server.create_database(odd.name)
    with psycopg.connect(server.url(odd.name, "postgres"), autocommit=True) as connection:
        connection.execute(odd.script.encode())
        if odd.granted:
            grant_reader(connection)
        connection.execute(odd.after.encode())


def read_on_postgres(server: EmbeddedServer, odd: OddSchema) -> Catalog:
    """What the reader may see of it."""
    return read_postgres_catalog(
        server.url(odd.name, "postgres"),
        database=odd.name,
        reader_role=READER,
        schemas=odd.schemas,
    )


def build_file(dialect: str, folder: Path, odd: OddSchema) -> Path:
    """A new file of SQLite or DuckDB."""
    path = folder / f"{odd.name}.{dialect}"
    if dialect == "sqlite":
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(odd.script)
    else:
        with duckdb.connect(path) as connection:
            if odd.script:
                connection.execute(odd.script)
    return path


def read_file(path: Path, odd: OddSchema) -> Catalog:
    """All of it, or of the schemas that are named."""
    if path.suffix == ".sqlite":
        return read_sqlite_catalog(path, database=odd.name)
    return read_duckdb_catalog(path, database=odd.name, schemas=odd.schemas)
