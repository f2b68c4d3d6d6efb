"""Of 300 ordinary queries on each database nearly all pass the guard and have their plain result.

The lists were written before it was known what passes. Each query runs plainly first, so that none
is wrong by itself. What is refused is told in docs/explanation/threat-model.md.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import psycopg
import pytest

from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.types import Diagnostic, Principal, Violation
from serve_app.composition.local import LocalParts
from serve_app.composition.wiring import Wiring
from serve_app.settings import parse_settings
from tests.demo import MODULES
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.ordinary import FIXTURES, LEAST_ANSWERED, read_ordinary
from tests.execution.sqlite import shop as sqlite_shop
from tests.fakes import FakeEmbedder
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.interfaces import open_interfaces, spell_cell

pytestmark = pytest.mark.long

MOST_ROWS = 1000
ANN = Principal("ann", ("analyst",))

Row = tuple[object, ...]
Result = tuple[tuple[str, ...], list[Row]]


@pytest.fixture
async def parts(embedded_server: EmbeddedServer, tmp_path: Path) -> AsyncIterator[LocalParts]:
    sqlite_shop.write(tmp_path / "shop.sqlite", read_schema("sqlite"))
    duckdb_shop.write(tmp_path / "shop.duckdb", read_schema("duckdb"))
    settings = parse_settings(
        {
            "home": str(tmp_path),
            "databases": {
                "demo_erp": {
                    "reader": {"url": "embedded"},
                    "indexer": {"url": "embedded"},
                    "schemas": list(MODULES),
                },
                "sqlite": {"reader": {"url": f"sqlite:///{tmp_path}/shop.sqlite"}},
                "duckdb": {"reader": {"url": f"duckdb:///{tmp_path}/shop.duckdb"}},
            },
            "default_database": "demo_erp",
            "limits": {"pool_size": 2, "file_memory_mib": 512, "max_rows": MOST_ROWS},
        }
    )
    wiring = Wiring(settings, embedded_server.socket_folder)
    embedder = FakeEmbedder(settings.index.embedder)
    async with open_interfaces(wiring, EchoEngine(), embedder=embedder) as opened:
        yield opened.parts


async def test_ordinary_queries_on_postgresql(
    parts: LocalParts, embedded_server: EmbeddedServer
) -> None:
    url = embedded_server.url("demo_erp", READER)
    options = f"-c search_path={','.join(MODULES)}"
    with psycopg.connect(url, autocommit=True, options=options) as connection:

        def fetch(sql: str) -> Result:
            cursor = connection.execute(sql.encode())
            columns = [tuple(column) for column in cursor.description or ()]
            return read(columns, cursor.fetchmany(MOST_ROWS))

        await check(parts, "demo_erp", read_ordinary("postgres"), fetch)


async def test_ordinary_queries_on_sqlite(parts: LocalParts, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:

        def fetch(sql: str) -> Result:
            cursor = connection.execute(sql)
            return read(cursor.description, cursor.fetchmany(MOST_ROWS))

        await check(parts, "sqlite", read_ordinary("shared", "sqlite"), fetch)


async def test_ordinary_queries_on_duckdb(parts: LocalParts, tmp_path: Path) -> None:
    # One process cannot have the file open in two ways.
    with closing(duckdb.connect(":memory:")) as connection:
        connection.execute(read_schema("duckdb"))

        def fetch(sql: str) -> Result:
            cursor = connection.execute(sql)
            columns = [tuple(column) for column in cursor.description or ()]
            return read(columns, cursor.fetchmany(MOST_ROWS))

        # DuckDB itself names an output by the query as it has rewritten it: count_star().
        await check(parts, "duckdb", read_ordinary("shared", "duckdb"), fetch, names=False)


async def check(
    parts: LocalParts,
    database: str,
    queries: list[str],
    fetch: Callable[[str], Result],
    *,
    names: bool = True,
) -> None:
    assert len(queries) == 300 == len(set(queries))
    guard = parts.wiring.build_guard(parts.store)
    refused, changed = [], []
    for sql in queries:
        columns, plain = fetch(sql)
        query = await guard.guard(database, sql, ANN)
        if isinstance(query, Violation):
            refused.append(f"{sql}\n  {query.code}: {query.message}")
            continue
        result = await parts.executor.execute(query, MOST_ROWS)
        if isinstance(result, Diagnostic):
            refused.append(f"{sql}\n  {result.sqlstate}: {result.message}")
            continue
        shown = tuple(tuple(map(spell_cell, row)) for row in result.rows)
        if (names and result.columns != columns) or shown != spell(plain, shown):
            changed.append(f"{sql}\n  {columns} {plain[:3]}\n  {result.columns} {shown[:3]}")
    print(
        f"{database}: {len(queries) - len(refused)} of {len(queries)} answered", *refused, sep="\n"
    )
    assert not changed, "\n".join(changed)
    assert len(queries) - len(refused) >= LEAST_ANSWERED, "\n".join(refused)


def read(described: Iterable[Sequence[object]], rows: list[Row]) -> Result:
    return tuple(str(column[0]) for column in described), rows


def spell(plain: list[Row], shown: Sequence[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """The plain rows as a reply has them; intervals as shown, for the drivers' have no months."""
    if len(plain) != len(shown):
        return tuple(tuple(map(spell_cell, row)) for row in plain)
    return tuple(
        tuple(
            cell if isinstance(value, dt.timedelta) else spell_cell(value)
            for value, cell in zip(row, cells, strict=True)
        )
        for row, cells in zip(plain, shown, strict=True)
    )


def read_schema(name: str) -> str:
    return (FIXTURES / f"ordinary_schema_{name}.sql").read_text(encoding="utf-8")
