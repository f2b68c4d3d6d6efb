"""The checks that every request passes before its route: host and origin, token, body.

They run twice, in Ray's HTTP proxy and around the routes. In the proxy they keep unfinished
requests away from the replicas; around the routes they apply behind any server. Passing them twice
has the same effect as once, except that only the routes check API keys and signed tokens and count
requests.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

from nl2sql.settings import LimitSettings, Settings
from nl2sql.settings.identity import IdentitySettings
from nl2sql.settings.page import PageSettings
from nl2sql.settings.serve import ServeSettings
from nl2sql.yaml_file import read_yaml
from serve_app.http.bodies import BoundedBodies
from serve_app.http.entrance import Entrance
from serve_app.http.identification import (
    SIGN_IN,
    SIGN_OUT,
    Identification,
    Identifies,
    ProxyIdentifier,
    RequestLimit,
)
from serve_app.http.openai.errors import OpenAiErrors
from serve_app.http.origins import HostRule, OriginRule
from serve_app.http.page_files import PageFiles
from serve_app.mcp.authorization import ResourceMetadata
from serve_app.service.identity.methods import list_sign_in_methods

if TYPE_CHECKING:
    from serve_app.service.usage import UsageMeter

# The response headers that a page of an allowed origin may read.
_EXPOSED = [
    f"QuorumSQL-{name}"
    for name in "SQL Database Confidence Quorum Truncated Cut-Cells Session Rewritten Notes "
    "Trace-Id Query-Id".split()
] + [
    "Retry-After",
    "WWW-Authenticate",
    *(
        f"x-ratelimit-{name}-{unit}"
        for name in ("limit", "remaining", "reset")
        for unit in ("requests", "tokens")
    ),
]
# The most bytes of a sign-in, and the most unfinished ones.
_SIGN_IN_BYTES, _MOST_SIGN_INS = 32_768, 32
# The request headers of MCP clients.
_MCP_HEADERS = ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")


class FrontSettings(BaseModel):
    """The sections of ``quorumsql.yaml`` that these checks use."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    identity: IdentitySettings = IdentitySettings()
    limits: LimitSettings = LimitSettings()
    page: PageSettings = PageSettings()
    serve: ServeSettings = ServeSettings()


def pick_front_settings(settings: Settings) -> FrontSettings:
    """Those sections of the settings."""
    return FrontSettings(
        identity=settings.identity,
        limits=settings.limits,
        page=settings.page,
        serve=settings.serve,
    )


def read_front_settings(path: Path) -> FrontSettings:
    """Reads those sections of a settings file, which may contain others.

    Raises SettingsError if there is no such file, pydantic's ValidationError for its content: the
    service itself reads the same file and reports errors in it better.
    """
    return FrontSettings.model_validate(read_yaml(path))


class Fork:
    """Sends requests to ``paths`` to the first application, others to the last."""

    def __init__(self, some: ASGIApp, paths: Collection[str], others: ASGIApp) -> None:
        self._some = some
        self._paths = frozenset(paths)
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._some if scope.get("path") in self._paths else self._others
        await app(scope, receive, send)


def surround(
    app: ASGIApp,
    settings: FrontSettings,
    *,
    most_open_bodies: int,
    identifier: Identifies | None = None,
    meter: UsageMeter | None = None,
) -> ASGIApp:
    """The application behind all checks.

    Without ``identifier`` only what the settings alone can decide is checked; without ``meter``
    requests are not counted.
    """
    limits, serve = settings.limits, settings.serve
    timeout_s = limits.body_timeout_ms / 1000
    app = Fork(
        # Everybody may send these, so they must not displace the bodies of principals.
        BoundedBodies(
            app,
            most_bytes=min(limits.body_bytes, _SIGN_IN_BYTES),
            timeout_s=timeout_s,
            most_open=_MOST_SIGN_INS,
        ),
        (SIGN_IN, SIGN_OUT),
        BoundedBodies(
            app,
            most_bytes=limits.body_bytes,
            timeout_s=timeout_s,
            most_open=most_open_bodies,
        ),
    )
    if meter is not None:
        app = RequestLimit(app, meter)
    methods = list_sign_in_methods(settings.identity, settings.page)
    app = Identification(app, identifier or ProxyIdentifier(settings.identity), methods)
    issuer = settings.identity.jwt.issuer
    # An issuer whose keys are in a file may have any name; clients can only use an address.
    if issuer.startswith(("https://", "http://")):
        app = ResourceMetadata(app, issuer=issuer, public_url=serve.public_url)
    if settings.page.enabled:
        # Before the token is checked: the page itself asks for one.
        app = PageFiles(app)
    if serve.allowed_origins:
        # Before the token is checked, because a browser's preflight request carries none.
        app = CORSMiddleware(
            app,
            allow_origins=serve.allowed_origins,
            allow_methods=("GET", "POST", "PATCH", "DELETE"),
            allow_headers=("Authorization", "Content-Type", *_MCP_HEADERS),
            expose_headers=_EXPOSED,
        )
    hosts = HostRule((*serve.allowed_hosts, serve.host))
    return OpenAiErrors(Entrance(app, hosts, OriginRule(serve.allowed_origins)))
