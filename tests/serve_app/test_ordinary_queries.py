"""Of 300 ordinary queries on each database nearly all are answered by the whole service.

The lists were written before it was known what passes. Each query runs plainly first, so that none
is wrong by itself; then it is sent to ``POST /run`` and to ``run_sql``, and both have to show the
plain result and its headings. What is refused is told in docs/explanation/threat-model.md.
"""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import duckdb
import psycopg
import pytest

from data.demo_erp import MODULES
from execution.executor import ReadOnlyExecutor
from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.settings import parse_settings
from serve_app.composition.access import build_access
from serve_app.composition.services import build_services
from serve_app.composition.stages import CpuStages
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app
from serve_app.mcp.tools import Services
from tests.execution.ordinary import FIXTURES, LEAST_ANSWERED, read_ordinary
from tests.fakes import FakeEmbedder
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.interfaces import (
    Interfaces,
    call_tool,
    open_interfaces,
    read_document,
    sign_in,
    spell_cell,
)

pytestmark = pytest.mark.long

MOST_ROWS = 1000

Row = tuple[object, ...]
Result = tuple[tuple[str, ...], list[Row]]


@pytest.fixture
async def interfaces(
    embedded_server: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Interfaces]:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:
        connection.executescript(read_schema("sqlite"))
    with closing(duckdb.connect(tmp_path / "shop.duckdb")) as connection:
        connection.execute(read_schema("duckdb"))
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
            "limits": {"pool_size": 2, "duckdb_memory_mib": 512, "max_rows": MOST_ROWS},
        }
    )
    signed = sign_in(settings, {"ann": {"roles": ["analyst"]}}, monkeypatch)
    wiring = Wiring(signed, embedded_server.socket_folder)
    embedder = FakeEmbedder(settings.index.embedder)
    engine = EchoEngine()
    async with open_interfaces(wiring, engine, embedder=embedder) as opened:
        store = opened.parts.store
        executor = ReadOnlyExecutor(wiring.build_databases())
        stages = CpuStages.build_here(wiring, engine, store, executor)
        access = build_access(signed, store)
        services = build_services(
            wiring, engine, stages, access, prepares_prompts=False, store=store
        )
        queries, tools = services.queries, services.tools
        app = build_http_app(signed, queries, tools=tools, page=services.page, access=access)
        yield replace(opened, app=app, services=Services(signed, queries, tools))
        await executor.close()


async def test_ordinary_queries_on_postgresql(
    interfaces: Interfaces, embedded_server: EmbeddedServer
) -> None:
    url = embedded_server.url("demo_erp", READER)
    options = f"-c search_path={','.join(MODULES)}"
    with psycopg.connect(url, autocommit=True, options=options) as connection:

        def fetch(sql: str) -> Result:
            cursor = connection.execute(sql.encode())
            columns = [tuple(column) for column in cursor.description or ()]
            return read(columns, cursor.fetchmany(MOST_ROWS))

        await check(interfaces, "demo_erp", read_ordinary("postgres"), fetch)


async def test_ordinary_queries_on_sqlite(interfaces: Interfaces, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection:

        def fetch(sql: str) -> Result:
            cursor = connection.execute(sql)
            return read(cursor.description, cursor.fetchmany(MOST_ROWS))

        await check(interfaces, "sqlite", read_ordinary("shared", "sqlite"), fetch)


async def test_ordinary_queries_on_duckdb(interfaces: Interfaces, tmp_path: Path) -> None:
    # One process cannot have the file open in two ways.
    with closing(duckdb.connect(":memory:")) as connection:
        connection.execute(read_schema("duckdb"))

        def fetch(sql: str) -> Result:
            cursor = connection.execute(sql)
            columns = [tuple(column) for column in cursor.description or ()]
            return read(columns, cursor.fetchmany(MOST_ROWS))

        await check(interfaces, "duckdb", read_ordinary("shared", "duckdb"), fetch)


async def check(
    interfaces: Interfaces, database: str, queries: list[str], fetch: Callable[[str], Result]
) -> None:
    assert len(queries) == 300 == len(set(queries))
    refused, changed = [], []
    async with interfaces.connect_mcp("ann", over_http=False) as client:
        for sql in queries:
            columns, plain = fetch(sql)
            body = {"database": database, "sql": sql, "max_rows": MOST_ROWS}
            response = await interfaces.send("ann", "/run", body)
            tool = await call_tool(client, "run_sql", **body)
            if response.status_code != 200:
                problem = response.json()
                refused.append(f"{sql}\n  {problem.get('code')}: {problem.get('detail')}")
                assert (response.status_code, tool.outcome) == (422, "error"), (sql, problem, tool)
                continue
            http = read_document(response.json(), response.text)
            if (http.columns, http.rows) != (columns, spell(plain, http.rows)):
                changed.append(f"{sql}\n  {columns} {plain[:3]}\n  {http.columns} {http.rows[:3]}")
            # The tool shows the first rows only.
            if (tool.columns, tool.rows) != (http.columns, http.rows[: len(tool.rows)]):
                changed.append(f"{sql}\n  run_sql: {tool.text[:300]}")
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
