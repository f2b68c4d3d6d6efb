"""``quorumsql mcp``: the Model Context Protocol over standard input and output."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import typer

from serve_app.cli.context import CliContext
from serve_app.cli.service_or_process import PrincipalOption
from serve_app.in_process import open_services
from serve_app.mcp.stdio import serve_stdio
from serve_app.mcp.tools import Services


def mcp(context: typer.Context, principal: PrincipalOption = "") -> None:
    """Serve the Model Context Protocol over standard input and output, in this process.

    MCP clients start this command themselves. Messages and logs go to standard error.
    """
    cli: CliContext = context.obj
    settings = cli.settings
    caller = settings.identity.principal(principal)

    async def open_local(stack: AsyncExitStack) -> Services:
        services = await open_services(settings, stack)
        return Services(settings, services.queries, services.tools)

    asyncio.run(serve_stdio(open_local, caller))
