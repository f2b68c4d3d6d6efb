"""``/mcp`` behind the front: hosts, origins, tokens, methods; and over a real connection."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.client.client import ConnectMode

from execution.guard.guard import SqlGuard
from tests.fakes import (
    SHOP,
    FakeCatalogs,
    FakeGenerator,
    build_candidate,
    build_generated,
    build_result,
    build_settings,
)
from tests.retrieval.directories import build_directory
from tests.serve_app.http.test_event_stream import GENERATED, TellingGenerator
from tests.serve_app.mcp.clients import MODES, call, connect_http
from tests.serve_app.served import build_app, connect, serve
from tests.waiting import wait_for

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}
TOKENS = {"principals": {"mia": {"token_env": "MIA_TOKEN"}}}


def build(generator: FakeGenerator | None = None, **sections: Any) -> Any:
    return build_app(
        build_settings(**sections),
        schemas=build_directory(SqlGuard(FakeCatalogs(SHOP))),
        generator=generator
        or FakeGenerator(build_generated(build_candidate("SELECT 1"), samples=1)),
        results={"SELECT 1": [build_result((1,))] * 2},
    )


async def post(app: Any, headers: dict[str, str], body: Any = INITIALIZE) -> httpx.Response:
    async with connect(app) as client:
        return await client.post("/mcp", json=body, headers=ACCEPT | headers)


@pytest.mark.parametrize("mode", MODES)
async def test_it_answers_over_a_real_connection(mode: ConnectMode) -> None:
    """The server has no lifespan, and the client opens streams and closes them."""
    with serve(build()) as url:
        async with Client(f"{url}/mcp", mode=mode) as client:
            assert (await call(client, "ask", question="One?"))["rows"] == [[1]]
            assert len((await client.list_tools()).tools) == 6


async def test_a_token_is_needed_once_a_principal_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIA_TOKEN", "secret")
    app = build(identity=TOKENS)
    for headers in ({}, {"authorization": "Bearer wrong"}):
        response = await post(app, headers)
        assert response.status_code == 401
        assert response.headers["www-authenticate"].startswith("Bearer")
    assert (await post(app, {"authorization": "Bearer secret"})).status_code == 200
    async with connect_http(app, token="secret") as client:
        assert (await call(client, "list_databases"))["databases"][0]["name"] == "shop"


async def test_what_is_no_message_of_the_protocol_is_refused() -> None:
    bodies: list[Any] = [{"jsonrpc": "2.0"}, [], {"id": 1, "method": "x"}]
    for body in bodies:
        assert (await post(build(), {}, body)).status_code == 400
    async with connect(build()) as client:
        # There are no sessions to listen to or to end.
        for method in ("GET", "DELETE", "PUT"):
            assert (await client.request(method, "/mcp", headers=ACCEPT)).status_code == 405


async def test_headers_of_the_protocol_pass() -> None:
    """From a page of an allowed origin, and with blanks around them (RFC 9110, section 5.5)."""
    app = build(serve={"allowed_origins": ["https://app.example"]})
    asked = {
        "origin": "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,mcp-protocol-version,mcp-method,mcp-name",
    }
    async with connect(app) as client:
        assert (await client.options("/mcp", headers=asked)).status_code == 200
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": " tools/list\t "}
    response = await post(app, headers, body)
    assert len(response.json()["result"]["tools"]) == 6


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_leaves_ends_the_work_for_it(mode: ConnectMode) -> None:
    generator = TellingGenerator(GENERATED, seconds=60)
    with serve(build(generator=generator)) as url:

        async def ask() -> None:
            async with Client(f"{url}/mcp", mode=mode) as client:
                await client.call_tool("ask", {"question": "One?"})

        asking = asyncio.create_task(ask())
        assert await asyncio.to_thread(wait_for, lambda: generator.has_begun)
        asking.cancel()
        await asyncio.wait({asking})
        assert await asyncio.to_thread(wait_for, lambda: generator.was_cancelled)
