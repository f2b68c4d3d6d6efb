"""The same question of several principals over every interface: the same rows, within the policy.

Everything is real but the model, which answers a question with the question itself. ``quorumsql
mcp`` runs as a process of its own; all else is in this one, without Ray.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from execution.postgres.embedded import EmbeddedServer
from quorumsql.async_client import AsyncClient
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_routes
from serve_app.in_process import AppTransport
from serve_app.reporting import SilentReporter
from serve_app.service.query_service import QueryService
from serve_app.service.services import Services
from tests.generation.engines import loopback
from tests.oracle.postgres_copies import open_superuser
from tests.serve_app.cli.conftest import write_config
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.interfaces import (
    Interfaces,
    Reply,
    Row,
    call_tool,
    open_interfaces,
    read_document,
    sign_in,
    spell_cell,
)
from tests.serve_app.mcp.test_stdio import COMMAND, ENVIRONMENT
from tests.serve_app.page_service import PRINCIPALS as OTHERS
from tests.serve_app.served import NO_TOOLS
from tests.serve_app.test_policy_pipeline import POLICY

pytestmark = pytest.mark.asyncio(loop_scope="module")

# A chat shows at most 50 rows. The salary is masked for members of departments.
COLUMNS = ("department_id", "employee_id", "last_name", "hire_dt", "salary")
QUESTION = f"SELECT {', '.join(COLUMNS)} FROM employees ORDER BY employee_id DESC LIMIT 48"
FORBIDDEN = "SELECT net_amt FROM payslips ORDER BY 1 LIMIT 3"
PRINCIPALS = {
    **{name: OTHERS[name] for name in ("mia", "noa", "eve", "ada")},
    "ravi": {"roles": ["regional_manager"], "attributes": {"region_ids": [5, 6]}},
}
ASKING = ("mia", "noa", "ravi", "ada")


@dataclass(frozen=True, slots=True)
class Service:
    """The interfaces, and what they were made of."""

    interfaces: Interfaces
    wiring: Wiring


@pytest.fixture(scope="module")
def guarded(wiring: Wiring) -> Iterator[Wiring]:
    """The demo's wiring with its policy and principals."""
    database = wiring.settings.databases["demo_erp"].model_copy(update={"policy": POLICY})
    # The echo of a question is no sure answer to it.
    ranking = wiring.settings.ranking.model_copy(update={"min_confidence": 0.0})
    settings = wiring.settings.model_copy(
        update={"databases": {"demo_erp": database}, "ranking": ranking}
    )
    with pytest.MonkeyPatch.context() as patch:
        yield Wiring(sign_in(settings, PRINCIPALS, patch), wiring.socket_folder)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def service(guarded: Wiring) -> AsyncIterator[Service]:
    async with open_interfaces(guarded, EchoEngine()) as interfaces:
        yield Service(interfaces, guarded)


# -- the interfaces --------------------------------------------------------------------------------

Way = Callable[[Service, str, str], Awaitable[Reply]]


def build_tool_call(tool: str, argument: str, *, over_http: bool) -> Way:
    async def call(service: Service, name: str, sql: str) -> Reply:
        async with service.interfaces.connect_mcp(name, over_http=over_http) as client:
            return await call_tool(client, tool, **{argument: sql}, max_rows=1000)

    return call


async def ask_in_process(service: Service, name: str, sql: str) -> Reply:
    async with await open_client(service.wiring, name) as client:
        answer = await client.ask(sql, k=1, max_rows=1000)
    return read_document(answer.model_dump(), answer.model_dump_json())


async def open_client(wiring: Wiring, name: str) -> AsyncClient:
    """What ``open_local`` opens, over the fake model."""
    settings, stack = wiring.settings, AsyncExitStack()
    parts = await stack.enter_async_context(
        open_parts(wiring, SilentReporter(), engine=EchoEngine())
    )
    queries = QueryService(settings, parts.build_pipeline(settings), {})
    app = build_routes(Services(settings, queries, NO_TOOLS))
    transport = AppTransport(app, settings.identity.principal(name), stack)
    return AsyncClient("http://in-process", transport=transport)


WAYS: dict[str, Way] = {
    "POST /query": lambda service, *asked: service.interfaces.query(*asked, k=1, max_rows=1000),
    "POST /query, events": lambda service, *asked: service.interfaces.stream(
        *asked, k=1, max_rows=1000
    ),
    "/v1/chat/completions": lambda service, *asked: service.interfaces.chat(*asked),
    "/v1/chat/completions, streamed": lambda service, *asked: service.interfaces.chat(
        *asked, stream=True
    ),
    **{
        f"MCP {tool} over {'HTTP' if over_http else 'streams'}": build_tool_call(
            tool, argument, over_http=over_http
        )
        for tool, argument in (("ask", "question"), ("run_sql", "sql"))
        for over_http in (True, False)
    },
    "Python in process": ask_in_process,
}


# -- the rows --------------------------------------------------------------------------------------

# What the policy grants of employees, written by hand: the condition, and the salary.
GRANTED = {
    "mia": ("department_id = 31", "NULL"),
    "noa": ("department_id = 7", "NULL"),
    "ravi": (
        "department_id IN (SELECT department_id FROM hr.departments WHERE region_id IN (5, 6))",
        "NULL",
    ),
    "ada": ("true", "salary"),
}


@pytest.fixture(scope="module")
def expected(embedded_server: EmbeddedServer) -> dict[str, tuple[Row, ...]]:
    """The rows of ``QUESTION`` by principal, read past the service; each has others."""
    rows = {}
    with open_superuser(embedded_server, "demo_erp") as connection:
        for name, (condition, salary) in GRANTED.items():
            employees = f"(SELECT * FROM hr.employees WHERE {condition}) AS employees"
            sql = QUESTION.replace("employees", employees, 1).replace("salary", salary)
            found = connection.execute(sql.encode()).fetchall()
            rows[name] = tuple(tuple(map(spell_cell, row)) for row in found)
    assert all(rows.values())
    assert len(set(rows.values())) == len(ASKING)
    return rows


# -- the tests -------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
async def test_a_principal_gets_the_rows_of_the_policy(
    service: Service, expected: dict[str, tuple[Row, ...]], way: Way
) -> None:
    for name in ASKING:
        reply = await way(service, name, QUESTION)
        assert reply.answered, reply.text
        # Where people read, a heading has its unit: "salary (EUR)".
        assert tuple(heading.partition(" (")[0] for heading in reply.columns) == COLUMNS
        assert reply.rows == expected[name], name


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
async def test_what_a_principal_may_not_see_is_refused(service: Service, way: Way) -> None:
    assert (await way(service, "ada", FORBIDDEN)).rows
    assert await service.interfaces.list_models("eve") == []
    for name in ("eve", "mia", "noa", "ravi"):
        reply = await way(service, name, QUESTION if name == "eve" else FORBIDDEN)
        assert not reply.answered, reply.text
        assert not reply.rows
        assert reply.status in (200, 404)


@pytest.fixture
def config(guarded: Wiring, tmp_path: Path) -> Iterator[Path]:
    """The same settings as a file, with a model server that answers as ``EchoEngine`` does."""

    def echo(body: dict[str, Any]) -> loopback.Reply:
        text = body["messages"][-1]["content"].rpartition("Question: ")[2]
        choice = {"index": 0, "finish_reason": "stop"}
        message = {"role": "assistant", "content": text}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return loopback.Reply(
            {"choices": [{**choice, "message": message}] * body.get("n", 1), "usage": usage}
        )

    settings = guarded.settings
    embedded = {"url": "embedded"}
    database = {"reader": embedded, "indexer": embedded, "policy": str(POLICY)}
    schemas = list(settings.databases["demo_erp"].schemas)
    with loopback.serve(v1__chat__completions=echo) as server:
        model = {"engine": "openai", "base_url": f"{server.url}/v1", "name": "echo"}
        yield write_config(
            tmp_path,
            home=str(settings.home),
            databases={"demo_erp": {**database, "demo": True, "schemas": schemas}},
            identity={"principals": PRINCIPALS},
            model=model,
        )


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] * (name != "mia")) for name in (*ASKING, "eve")],
)
async def test_the_command_gives_the_same_rows_over_stdio(
    config: Path, expected: dict[str, tuple[Row, ...]], name: str
) -> None:
    arguments = [*COMMAND[1:], "--config", str(config), "mcp", "--as", name]
    parameters = StdioServerParameters(command=COMMAND[0], args=arguments, env=ENVIRONMENT)
    async with Client(stdio_client(parameters)) as client:
        for tool, argument in (("ask", "question"), ("run_sql", "sql")):
            reply = await call_tool(client, tool, **{argument: QUESTION}, max_rows=1000)
            forbidden = await call_tool(client, tool, **{argument: FORBIDDEN})
            assert reply.rows == expected.get(name, ()), reply.text
            assert reply.answered == (name != "eve")
            assert forbidden.answered == (name == "ada")
