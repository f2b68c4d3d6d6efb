"""Principals of different rights over MCP: the same rows as over the other interfaces.

Everything is real but the model, which answers a question with the question itself, and the server.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from starlette.types import ASGIApp

from nl2sql.settings import Settings
from quorumsql.async_client import AsyncClient
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.http.app import build_http_app, build_routes
from serve_app.in_process import AppTransport
from serve_app.mcp.tools import Services
from serve_app.reporting import Silence
from serve_app.service.query_service import QueryService
from serve_app.service.tools import ToolService
from tests.serve_app.echo_engine import EchoEngine
from tests.serve_app.http.test_principals import PRINCIPALS
from tests.serve_app.mcp.clients import call, connect_directly, connect_http, fail
from tests.serve_app.served import connect
from tests.serve_app.test_policy_pipeline import POLICY

STAFF = "SELECT employee_id, department_id FROM employees"
Rows = set[tuple[Any, ...]]


@dataclass(frozen=True)
class Interfaces:
    """The same services over every interface."""

    settings: Settings
    services: Services
    http: ASGIApp

    def connect(self, name: str) -> AbstractAsyncContextManager[Client]:
        """An MCP client over HTTP, with the principal's token."""
        return connect_http(self.http, token=f"token of {name}")

    async def list_rows(self, name: str, sql: str) -> dict[str, Rows]:
        """The rows of a query for a principal, by interface."""
        principal = self.settings.identity.principal(name)
        found = {}
        body = {"question": sql, "k": 1, "max_rows": 1000}
        async with connect(self.http) as http:
            token = {"Authorization": f"Bearer token of {name}"}
            answer = (await http.post("/query", json=body, headers=token)).json()
            found["http"] = _read_rows(answer)
        async with self.connect(name) as client:
            asked = await call(client, "ask", question=sql, max_rows=1000)
            found["ask over HTTP"] = _read_rows(asked)
            found["run_sql over HTTP"] = _read_rows(
                await call(client, "run_sql", sql=sql, max_rows=1000)
            )
        async with connect_directly(self.services, principal=principal) as client:
            asked = await call(client, "ask", question=sql, max_rows=1000)
            found["ask over stdio"] = _read_rows(asked)
        routes = build_routes(self.settings, self.services.queries)
        transport = AppTransport(routes, principal)
        async with AsyncClient("http://in-process", transport=transport) as python:
            response = await python.ask(sql, k=1, max_rows=1000)
            found["Python"] = _read_rows(response.model_dump())
        return found

    async def chat(self, name: str, text: str) -> str:
        """The message that answers a chat over the OpenAI-compatible interface."""
        body = {"model": "demo_erp", "messages": [{"role": "user", "content": text}]}
        headers = {"Authorization": f"Bearer token of {name}"}
        async with connect(self.http) as http:
            response = await http.post("/v1/chat/completions", json=body, headers=headers)
        content: str = response.json()["choices"][0]["message"]["content"]
        return content

    async def list_models(self, name: str) -> list[str]:
        """The databases that the OpenAI-compatible interface lists as models."""
        headers = {"Authorization": f"Bearer token of {name}"}
        async with connect(self.http) as http:
            response: httpx.Response = await http.get("/v1/models", headers=headers)
        return [model["id"] for model in response.json()["data"]]


def _read_rows(document: dict[str, Any]) -> Rows:
    assert document["outcome"] == "answered" if "outcome" in document else True, document
    return {tuple(row) for row in document["rows"]}


@pytest.fixture
async def interfaces(wiring: Wiring, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Interfaces]:
    principals = {}
    for name, principal in PRINCIPALS.items():
        monkeypatch.setenv(f"{name.upper()}_TOKEN", f"token of {name}")
        principals[name] = {**principal, "token_env": f"{name.upper()}_TOKEN"}
    settings = wiring.settings
    database = settings.databases["demo_erp"].model_copy(update={"policy": POLICY})
    identity = type(settings.identity).model_validate({"principals": principals})
    settings = settings.model_copy(
        update={"databases": {"demo_erp": database}, "identity": identity}
    )
    guarded = Wiring(settings, wiring.socket_folder)
    async with open_parts(guarded, Silence(), engine=EchoEngine()) as parts:
        directory = guarded.build_schema_directory(parts.store, parts.embedder, parts.guard)
        queries = QueryService(settings, parts.build_pipeline(settings), {}, admission=directory)
        tools = ToolService(
            settings,
            queries.turns,
            guard=parts.guard,
            executor=parts.executor,
            retriever=parts.build_retriever(settings),
            schemas=directory,
        )
        app = build_http_app(settings, queries, tools=tools)
        yield Interfaces(settings, Services(settings, queries, tools), app)


async def test_a_principal_gets_the_same_rows_over_all_interfaces(interfaces: Interfaces) -> None:
    rows = {}
    for name in ("mia", "noa", "ravi", "ada"):
        found = await interfaces.list_rows(name, STAFF)
        assert len(found) == 5
        rows[name] = found["http"]
        assert found == dict.fromkeys(found, rows[name])
        message = await interfaces.chat(name, "SELECT count(*) AS staff FROM employees")
        assert f"| {len(rows[name])} |" in message
    assert {department for _, department in rows["mia"]} == {31}
    assert {department for _, department in rows["noa"]} == {7}
    assert rows["mia"] == {row for row in rows["ada"] if row[1] == 31}
    assert rows["noa"] == {row for row in rows["ada"] if row[1] == 7}
    assert rows["ravi"] < rows["ada"]


async def test_hidden_tables_are_not_described(interfaces: Interfaces) -> None:
    async with interfaces.connect("ada") as client:
        everything = await call(client, "describe_tables")
        assert "payslips" in [table["name"] for table in everything["tables"]]
    async with interfaces.connect("mia") as client:
        visible = [table["name"] for table in (await call(client, "describe_tables"))["tables"]]
        assert "employees" in visible
        assert "payslips" not in visible
        hidden = await fail(client, "describe_tables", tables=["hr.payslips"])
        unknown = await fail(client, "describe_tables", tables=["hr.nowhere"])
        assert hidden.replace("payslips", "nowhere") == unknown
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource("schema://demo_erp/payslips")
        found = await call(client, "search_schema", text="payslips net pay")
        assert "payslips" not in [table["name"] for table in found["tables"]]
        assert "payslips" in await fail(client, "run_sql", sql="SELECT avg(net) FROM payslips")
        (employees,) = (await call(client, "describe_tables", tables=["employees"]))["tables"]
        assert employees["visible_rows"]


async def test_who_may_see_nothing_is_offered_nothing(interfaces: Interfaces) -> None:
    assert await interfaces.list_models("eve") == []
    assert await interfaces.list_models("mia") == ["demo_erp", "quorumsql"]
    async with interfaces.connect("eve") as client:
        assert (await call(client, "list_databases"))["databases"] == []
        assert (await client.list_resources()).resources == []
        assert (await call(client, "ask", question=STAFF))["outcome"] == "refused"
        for tool, arguments in (
            ("run_sql", {"sql": STAFF}),
            ("describe_tables", {"tables": ["employees"]}),
            ("search_schema", {"text": "employees"}),
        ):
            assert "employee_id" not in await fail(client, tool, **arguments)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM pg_read_file('/etc/passwd')",
        "SELECT * FROM pg_ls_dir('/')",
        "DELETE FROM employees",
        "SELECT 1; SELECT 2",
        "SELECT query_to_xml('DELETE FROM hr.employees', true, true, '')",
    ],
)
async def test_attacks_are_refused(interfaces: Interfaces, sql: str) -> None:
    async with interfaces.connect("ada") as client:
        assert "The query was not run" in await fail(client, "run_sql", sql=sql)


async def test_analytic_queries_run(interfaces: Interfaces) -> None:
    async with interfaces.connect("ada") as client:
        for sql in (
            "SELECT employee_id, RANK() OVER (PARTITION BY department_id ORDER BY hire_dt) "
            "AS place FROM employees LIMIT 3",
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY department_id) FROM employees",
        ):
            assert (await call(client, "run_sql", sql=sql))["rows"]
