"""The MCP server over standard input and output, for one principal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from mcp.server.stdio import stdio_server

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
        try:
            await server.run(reading, writing, server.create_initialization_options())
        finally:
            opening.cancel()
            await asyncio.wait({opening})
            if not opening.cancelled():
                opening.exception()
