"""The MCP server over standard input and output, for one principal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import anyio
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from nl2sql.types import Principal
from serve_app.mcp.server import build_server
from serve_app.service.services import Services


async def serve_stdio(
    open_services: Callable[[AsyncExitStack], Awaitable[Services]], principal: Principal
) -> None:
    """Serves until standard input ends. What else is printed meanwhile goes to standard error.

    The services are opened at once, but the client is answered before they are open: clients wait
    only seconds for a server to start. If they cannot be opened, each call reports why.
    """
    async with AsyncExitStack() as stack, stdio_server() as (reading, writing):
        opening = asyncio.ensure_future(open_services(stack))

        async def wait_for_services() -> Services:
            # A call may be cancelled while others wait for the same task.
            return await asyncio.shield(opening)

        server = build_server(wait_for_services, lambda _: principal)
        send, well_formed = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        passing = asyncio.ensure_future(_pass_messages(reading, send, writing))
        try:
            await server.run(well_formed, writing, server.create_initialization_options())
        finally:
            passing.cancel()
            await asyncio.wait({passing})
            opening.cancel()
            await asyncio.wait({opening})
            if not opening.cancelled():
                opening.exception()


async def _pass_messages(
    reading: ObjectReceiveStream[SessionMessage | Exception],
    send: ObjectSendStream[SessionMessage | Exception],
    writing: ObjectSendStream[SessionMessage],
) -> None:
    """Passes messages on; answers a line that is none with an error, as JSON-RPC demands."""
    async with send:
        async for message in reading:
            if isinstance(message, Exception):
                await writing.send(SessionMessage(_describe_malformed(message)))
            else:
                await send.send(message)


def _describe_malformed(error: Exception) -> JSONRPCError:
    kinds = [each["type"] for each in error.errors()] if isinstance(error, ValidationError) else []
    if kinds and "json_invalid" not in kinds:
        problem = ErrorData(code=INVALID_REQUEST, message="This is no message of JSON-RPC 2.0.")
    else:
        problem = ErrorData(code=PARSE_ERROR, message="The line is not valid JSON.")
    return JSONRPCError(jsonrpc="2.0", id=None, error=problem)
