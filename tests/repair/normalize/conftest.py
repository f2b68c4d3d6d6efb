"""The two tables in an empty database of each kind."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import duckdb
import psycopg
import pytest

from execution.postgres.embedded import SUPERUSER, EmbeddedServer
from tests.repair.normalize.people import build_script

Run = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def engines(embedded_server: EmbeddedServer) -> Iterator[Mapping[str, Run]]:
    """By dialect, what runs a query and gives its rows."""
    embedded_server.create_database("golden")
    postgres = psycopg.connect(embedded_server.url("golden", SUPERUSER), autocommit=True)
    lite = sqlite3.connect(":memory:")
    duck = duckdb.connect()
    for dialect, connection in (("postgres", postgres), ("sqlite", lite), ("duckdb", duck)):
        for statement in build_script(dialect):
            connection.execute(statement)
    yield {
        "postgres": lambda sql: postgres.execute(sql).fetchall(),
        "sqlite": lambda sql: lite.execute(sql).fetchall(),
        "duckdb": lambda sql: duck.execute(sql).fetchall(),
    }
    postgres.close()
    lite.close()
    duck.close()
    embedded_server.drop_database("golden")
