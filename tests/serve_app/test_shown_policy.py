"""What leaves the service names nothing that a policy hides, and no constant of the policy.

A policy whose filters read a hidden column, with masked ones, over the three databases. The names
and constants occur nowhere else, so each is looked for in every byte that is received, by every way
that a trace can leave.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from execution.postgres.embedded import EmbeddedServer
from serve_app.composition.wiring import Wiring
from tests.embedded_databases import fill_database
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.sqlite import shop as sqlite_shop
from tests.fakes import FakeEmbedder
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.interfaces import (
    Interfaces,
    call_tool,
    configure_engines,
    open_interfaces,
    sign_in,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

ENGINES = ("postgres", "sqlite", "duckdb")
TABLES = """
CREATE TABLE staff (id integer PRIMARY KEY, name text, pay integer, clearance_kept text,
                    region integer);
CREATE TABLE tasks (id integer PRIMARY KEY, staff_id integer REFERENCES staff (id));
CREATE VIEW seen AS SELECT name, region FROM staff;
INSERT INTO staff VALUES (1, 'ada', 10, 'plain', 3), (2, 'ben', 20, 'KEPT-BACK', 3);
INSERT INTO tasks VALUES (1, 1), (2, 2);
"""
IN_POSTGRES = f"""CREATE SCHEMA main; SET search_path TO main; {TABLES}
ALTER DATABASE shown_policy SET search_path TO main"""
ROLES = {
    # The filter's first part may be told to no one, the second one to everybody it limits.
    "member": {
        "tables": {"visible": ["main.staff", "main.tasks", "main.seen"]},
        "rows": "filtered",
        "row_filters": {"main.staff": "clearance_kept <> 'KEPT-BACK' AND region = :region"},
        "inherit": {"main.tasks": {"columns": ["staff_id"], "references": "main.staff"}},
        "hidden_columns": ["main.staff.clearance_kept"],
        "masked_columns": ["main.staff.pay"],
    },
    "local": {
        "tables": {"visible": ["main.staff"]},
        "row_filters": {"main.staff": "region = :region"},
        "hidden_columns": ["main.staff.clearance_kept"],
        "masked_columns": ["main.staff.name"],
    },
    "boss": {"tables": {"visible": "*"}, "rows": "all"},
}
REGION = {"region": 3}
PRINCIPALS: dict[str, dict[str, Any]] = {
    "mia": {"roles": ["member"], "attributes": REGION},
    "leo": {"roles": ["local"], "attributes": REGION},
    "bea": {"roles": ["member", "local"], "attributes": REGION},
    "ada": {"roles": ["member", "admin"], "attributes": REGION},
    "bob": {"roles": ["boss"]},
}
# Names and constants of the policy, of its masks and of the guard's wrappers.
SECRETS = ("clearance_kept", "KEPT-BACK", "_0.", "CAST(NULL", "OFFSET 0")
QUERIES = (
    "SELECT count(*) FROM staff",
    "SELECT name, pay FROM staff",
    "SELECT (SELECT max(pay) FROM staff) AS most",
    "SELECT count(*) FROM tasks",
    "SELECT name FROM seen",
    "SELECT t.id FROM tasks t JOIN staff s ON s.id = t.staff_id",
    "SELECT invented FROM staff",
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def interfaces(
    embedded_server: EmbeddedServer, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Interfaces]:
    folder = tmp_path_factory.mktemp("shown_policy")
    sqlite_shop.write(folder / "file.sqlite", TABLES)
    duckdb_shop.write(folder / "file.duckdb", TABLES)
    urls = {engine: f"{engine}:///{folder}/file.{engine}" for engine in ENGINES[1:]}
    policy = {"version": 1, "attributes": {"region": {"type": "integer"}}, "roles": ROLES}
    settings = configure_engines(
        folder,
        {"postgres": "embedded:shown_policy", **urls},
        policy,
        page={"operate_roles": ["admin"]},
    )
    embedder = FakeEmbedder(settings.index.embedder)
    with (
        fill_database(embedded_server, "shown_policy", IN_POSTGRES),
        pytest.MonkeyPatch.context() as patch,
    ):
        wiring = Wiring(sign_in(settings, PRINCIPALS, patch), embedded_server.socket_folder)
        async with open_interfaces(wiring, EchoEngine(), embedder=embedder) as opened:
            yield opened


async def receive(interfaces: Interfaces, name: str, database: str, sql: str) -> list[str]:
    """All that a principal gets to see of a query, by each way that a trace can leave."""
    body = {"question": sql, "database": database, "k": 2, "trace": True}
    asked = await interfaces.send(name, "/query", body)
    assert asked.json()["trace"]["candidates"], asked.text
    texts = [asked.text, str(asked.headers)]
    texts.append((await interfaces.send(name, "/query", body, accept="text/event-stream")).text)
    texts.append((await interfaces.send(name, "/translate", body)).text)
    texts.append((await interfaces.chat(name, sql, model=database)).text)
    async with interfaces.connect_mcp(name, over_http=False) as client:
        for tool, text in (("ask", "question"), ("run_sql", "sql"), ("search_schema", "text")):
            texts.append((await call_tool(client, tool, database=database, **{text: sql})).text)
        texts.append((await call_tool(client, "describe_tables", database=database)).text)
    return texts


@pytest.mark.parametrize("database", ENGINES)
async def test_no_way_shows_what_a_policy_hides(interfaces: Interfaces, database: str) -> None:
    for name in ("mia", "leo", "bea"):
        for sql in QUERIES:
            for text in await receive(interfaces, name, database, sql):
                assert not [secret for secret in SECRETS if secret in text], (name, sql, text)


@pytest.mark.parametrize("database", ENGINES)
async def test_what_may_be_read_is_shown(interfaces: Interfaces, database: str) -> None:
    """Filters with the reader's own values; the query as it ran only to operators and the boss."""

    async def trace(name: str, sql: str) -> dict[str, Any]:
        body = {"question": sql, "database": database, "k": 1, "trace": True}
        answer = (await interfaces.send(name, "/query", body)).json()
        candidate: dict[str, Any] = answer["trace"]["candidates"][0]
        return candidate

    count, tasks = QUERIES[0], QUERIES[3]
    shown = {name: await trace(name, count) for name in PRINCIPALS}
    assert shown["leo"]["predicates"] == ["main.staff: region = 3"]
    for name in ("mia", "bea", "ada"):
        assert shown[name]["predicates"] == ["main.staff"], name
    assert shown["bob"]["predicates"] == []
    assert (await trace("mia", tasks))["predicates"] == ["main.tasks"]
    guarded = {name: candidate["guarded_sql"] for name, candidate in shown.items()}
    assert [name for name, sql in guarded.items() if sql is None] == ["mia", "leo", "bea"]
    assert "KEPT-BACK" in guarded["ada"]
