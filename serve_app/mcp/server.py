"""The MCP server: passes requests to tools, as the principal who sends them."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from typing import Any

from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
)
from pydantic import ValidationError

from nl2sql.errors import QuorumError
from nl2sql.types import Principal
from serve_app.mcp.tools import TOOLS, ToolCall, render_error
from serve_app.service.services import Services

Context = ServerRequestContext[Any, Any]

_LOG = logging.getLogger("quorumsql")
_UNEXPECTED = "The service failed unexpectedly; its log has the details."
_INSTRUCTIONS = (
    "QuorumSQL answers questions about databases with guarded, read-only SQL. Use ask for a "
    "question in plain language. To write SQL yourself, find tables with search_schema, read them "
    "with describe_tables, and run the query with run_sql. Results are cut to a limited size and "
    "say so under `truncated` and `notes`."
)


def build_server(
    open_services: Callable[[], Awaitable[Services]], find_principal: Callable[[Context], Principal]
) -> Server[Any]:
    """The server. ``open_services`` is awaited by each request that needs the services.

    ``find_principal`` returns who sends a request.
    """

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[entry.describe() for entry in TOOLS.values()])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        entry = TOOLS.get(params.name)
        if entry is None:
            known = ", ".join(TOOLS)
            raise MCPError(INVALID_PARAMS, f"There is no tool {params.name!r}. Known: {known}.")
        try:
            arguments = entry.arguments.model_validate(params.arguments or {})
            call = ToolCall(await open_services(), find_principal(context), context)
            return await entry.run(call, arguments)
        except ValidationError as error:
            return render_error(_describe_invalid(error))
        except QuorumError as error:
            return render_error(str(error))
        except MCPError:
            raise
        except Exception as error:
            _LOG.error("unexpected error in tool %s", params.name, exc_info=error)
            return render_error(_UNEXPECTED)

    return Server(
        "quorumsql",
        version=version("quorumsql"),
        title="QuorumSQL",
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _describe_invalid(error: ValidationError) -> str:
    problems = (
        f"{'.'.join(str(part) for part in problem['loc']) or 'arguments'}: {problem['msg']}"
        for problem in error.errors()[:6]
    )
    return f"The arguments are invalid: {'; '.join(problems)}"[:2000]
