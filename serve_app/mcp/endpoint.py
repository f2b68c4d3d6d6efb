"""The MCP server over streamable HTTP, as one ASGI route without sessions.

Every request is complete in itself, so any replica may answer it. Hosts, origins, tokens and bodies
are checked by the front that the route is behind, as for all routes.
"""

from __future__ import annotations

import logging

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from nl2sql.errors import Unauthenticated
from nl2sql.types import Principal
from serve_app.mcp.server import Context, build_server
from serve_app.service.services import Services

# Our front checks hosts and origins, by the rules of `serve`.
_CHECKED_BEFORE = TransportSecuritySettings(enable_dns_rebinding_protection=False)
# It reports the start and the end of every request.
_NOISY = "mcp.server.streamable_http_manager"


class McpEndpoint:
    """Answers POST requests; the principal is expected in the scope's state."""

    def __init__(self, services: Services) -> None:
        async def open_services() -> Services:
            return services

        self._server = build_server(open_services, find_principal)
        logging.getLogger(_NOISY).setLevel(logging.WARNING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # RFC 9110, section 5.5: the server's parser leaves blanks at the end of a value, and the
        # protocol compares some headers with the body.
        headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        # A manager can be started only once, and an ASGI lifespan is not run by every server.
        manager = StreamableHTTPSessionManager(
            self._server, stateless=True, security_settings=_CHECKED_BEFORE
        )
        async with manager.run():
            await manager.handle_request({**scope, "headers": headers}, receive, send)


def find_principal(context: Context) -> Principal:
    """The principal of the HTTP request. Raises Unauthenticated."""
    state = context.request.scope.get("state", {}) if context.request is not None else {}
    principal = state.get("principal")
    if not isinstance(principal, Principal):
        raise Unauthenticated("The request carries no known token.")
    return principal
