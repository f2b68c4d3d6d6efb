"""Shows MCP clients where they get a token: protected resource metadata (RFC 9728).

Knows nothing of tokens themselves: the request is identified behind it. Imports no MCP library,
because Ray's HTTP proxy runs it too.
"""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from serve_app.http.headers import change_headers, find_header

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_ENDPOINT = "/mcp"
# The path of the metadata → that of the resource. All routes accept the same tokens, so that the
# whole service is a resource too.
_RESOURCES = {WELL_KNOWN: "", WELL_KNOWN + _ENDPOINT: _ENDPOINT}


class ResourceMetadata:
    """Serves the metadata without a token, and names its address in each 401 of ``/mcp``."""

    def __init__(self, app: ASGIApp, *, issuer: str, public_url: str) -> None:
        """``issuer`` is the authorization server.

        Without ``public_url`` the service's address is the one that a request was sent to.
        """
        self._app = app
        self._issuer = issuer
        self._public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path in _RESOURCES and scope["method"] in ("GET", "HEAD"):
            await self._build_metadata(scope, path)(scope, receive, send)
            return
        if path != _ENDPOINT:
            await self._app(scope, receive, send)
            return

        def name_address(headers: MutableHeaders, status: int) -> None:
            if status == 401:
                headers["WWW-Authenticate"] = self._build_challenge(scope)

        await self._app(scope, receive, change_headers(send, name_address))

    def _build_metadata(self, scope: Scope, path: str) -> JSONResponse:
        return JSONResponse(
            {
                "resource": self._find_address(scope) + _RESOURCES[path],
                "resource_name": "QuorumSQL",
                "authorization_servers": [self._issuer],
                "bearer_methods_supported": ["header"],
            }
        )

    def _build_challenge(self, scope: Scope) -> str:
        address = f"{self._find_address(scope)}{WELL_KNOWN}{_ENDPOINT}"
        has_token = bool(find_header(scope, b"authorization"))
        # RFC 6750, section 3.1: without a token there is no error.
        error = 'error="invalid_token", ' if has_token else ""
        return f'Bearer {error}resource_metadata="{address}"'

    def _find_address(self, scope: Scope) -> str:
        if self._public_url:
            return self._public_url
        # There is one such header, and it is valid: hosts are checked first.
        (host,) = find_header(scope, b"host")
        return f"{scope['scheme']}://{host}"
