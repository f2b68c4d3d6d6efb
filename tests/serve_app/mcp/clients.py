"""MCP clients of the official SDK: over HTTP, and over the streams that stdio uses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.client import ConnectMode
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent
from starlette.types import ASGIApp

from nl2sql.types import Principal
from serve_app.mcp.server import build_server
from serve_app.service.services import Services

# The newest protocol version, and the last one that begins with a handshake.
MODES: tuple[ConnectMode, ...] = ("auto", "legacy")


@asynccontextmanager
async def connect_http(
    app: ASGIApp,
    *,
    token: str = "",
    mode: ConnectMode = "auto",
) -> AsyncIterator[Client]:
    """A client of the application's ``/mcp``."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = httpx2.ASGITransport(app)
    async with httpx2.AsyncClient(transport=transport, headers=headers, timeout=60) as http:
        streams = streamable_http_client("http://localhost/mcp", http_client=http)
        async with Client(streams, mode=mode) as client:
            yield client


@asynccontextmanager
async def connect_directly(
    services: Services,
    *,
    principal: Principal,
    mode: ConnectMode = "auto",
) -> AsyncIterator[Client]:
    """A client of a server for one principal, as over stdio."""

    async def open_services() -> Services:
        return services

    server = build_server(open_services, lambda _: principal)
    async with Client(server, mode=mode) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The document that the tool returns."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert not result.is_error, read_text(result)
    document: dict[str, Any] = result.structured_content
    return document


async def fail(client: Client, tool: str, **arguments: Any) -> str:
    """The error that the tool returns."""
    result = await client.call_tool(tool, arguments)
    assert isinstance(result, CallToolResult)
    assert result.is_error
    return read_text(result)


def read_text(result: CallToolResult) -> str:
    """The text of a result with one content."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text
