"""What the rules write runs, on all three databases, and gives the rows that were meant."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

import duckdb
import psycopg
import pytest

from execution.postgres.embedded import SUPERUSER, EmbeddedServer
from tests.repair.normalize.goldens import GOLDENS, IDS, Golden, build_script

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


@pytest.mark.parametrize("golden", GOLDENS, ids=IDS)
def test_a_golden_query_gives_its_rows(golden: Golden, engines: Mapping[str, Run]) -> None:
    rows = [[_plain(value) for value in row] for row in engines[golden.target](golden.after)]
    expected = [[_plain(value) for value in row] for row in golden.rows]
    assert sorted(rows, key=str) == sorted(expected, key=str)


def _plain(value: object) -> object:
    """The value as all three databases would give it."""
    if isinstance(value, bool | int | float | Decimal):
        return round(float(value), 6)
    return str(value) if isinstance(value, date) else value
