"""The checks that every request passes before its route: host and origin, token, body.

They run twice, in Ray's HTTP proxy and around the routes. In the proxy they keep unfinished
requests away from the replicas; around the routes they apply behind any server. Passing them twice
has the same effect as once, except that only the routes check API keys and signed tokens and count
requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from serve_app.http.bodies import BoundedBodies
from serve_app.http.identification import SIGN_IN, SIGN_OUT, Identification, ProxyIdentifier
from serve_app.http.origins import HostRule, OriginCheck
from serve_app.http.page_files import PageFiles
from serve_app.http.resource_metadata import ResourceMetadata
from serve_app.settings import Settings

if TYPE_CHECKING:
    from serve_app.service.identity.identifier import Identifier
    from serve_app.service.usage import UsageMeter

# The response headers that a page of an allowed origin may read.
_EXPOSED = [
    f"QuorumSQL-{name}"
    for name in "SQL Database Confidence Quorum Truncated Cut-Cells Session Rewritten Notes "
    "Trace-Id".split()
] + ["Retry-After", "WWW-Authenticate"]
# The request headers of MCP clients.
_MCP_HEADERS = ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")


def add_middleware(
    app: ASGIApp,
    settings: Settings,
    *,
    identifier: Identifier | None = None,
    meter: UsageMeter | None = None,
) -> ASGIApp:
    """The application behind all checks.

    Without ``identifier`` only what the settings alone can decide is checked; without ``meter``
    requests are not counted.
    """
    serve, routes = settings.serve, app
    app = BoundedBodies(app, settings.limits.body_bytes, open_paths=(SIGN_IN, SIGN_OUT))
    issuer = settings.identity.jwt.issuer
    metadata = None
    # An issuer whose keys are in a file may have any name; clients can only use an address.
    if issuer.startswith(("https://", "http://")):
        metadata = ResourceMetadata(issuer, serve.public_url)
    known = identifier or ProxyIdentifier(settings.identity)
    app = Identification(app, known, meter, metadata)
    if settings.page.enabled:
        # Before the token is checked: the page itself asks for one.
        app = PageFiles(app)
    if serve.allowed_origins:
        # Before the token is checked, because a browser's preflight request carries none.
        app = CORSMiddleware(
            app,
            allow_origins=serve.allowed_origins,
            allow_methods=("GET", "POST", "DELETE"),
            allow_headers=("Authorization", "Content-Type", *_MCP_HEADERS),
            expose_headers=_EXPOSED,
        )
    hosts = HostRule((*serve.allowed_hosts, serve.host))
    return OriginCheck(app, hosts, serve.allowed_origins, routes)
