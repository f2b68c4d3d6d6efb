"""Shows MCP clients where they get a token: protected resource metadata (RFC 9728).

Knows nothing of tokens themselves. Imports no MCP library, because Ray's HTTP proxy uses it too.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from serve_app.http.headers import find_header

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_ENDPOINT = "/mcp"
# The path of the metadata → that of the resource. All routes accept the same tokens, so that the
# whole service is a resource too.
_RESOURCES = {WELL_KNOWN: "", WELL_KNOWN + _ENDPOINT: _ENDPOINT}


@dataclass(frozen=True, slots=True)
class ResourceMetadata:
    """``issuer`` is the authorization server.

    Without ``public_url`` the service's address is the one that a request was sent to.
    """

    issuer: str
    public_url: str

    def render(self, scope: Scope) -> Response | None:
        """The metadata, for which nobody needs a token; None if the request is another one."""
        path = scope["path"]
        if path not in _RESOURCES or scope["method"] not in ("GET", "HEAD"):
            return None
        return JSONResponse(
            {
                "resource": self._find_address(scope) + _RESOURCES[path],
                "resource_name": "QuorumSQL",
                "authorization_servers": [self.issuer],
                "bearer_methods_supported": ["header"],
            }
        )

    def name_address(self, scope: Scope, refusal: Response) -> None:
        """Names the address of the metadata in a 401 of ``/mcp``."""
        if scope["path"] == _ENDPOINT:
            has_token = bool(find_header(scope, b"authorization"))
            # RFC 6750, section 3.1: without a token there is no error.
            error = 'error="invalid_token", ' if has_token else ""
            address = f"{self._find_address(scope)}{WELL_KNOWN}{_ENDPOINT}"
            refusal.headers["WWW-Authenticate"] = f'Bearer {error}resource_metadata="{address}"'

    def _find_address(self, scope: Scope) -> str:
        if self.public_url:
            return self.public_url
        # There is one such header, and it is valid: hosts are checked first.
        (host,) = find_header(scope, b"host")
        return f"{scope['scheme']}://{host}"
