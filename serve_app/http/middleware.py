"""The checks that every request passes before its route: host and origin, token, body.

They run twice, in Ray's HTTP proxy and around the routes. In the proxy they keep unfinished
requests away from the replicas; around the routes they apply behind any server. Passing them twice
has the same effect as once.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from nl2sql.settings import LimitSettings, Settings
from nl2sql.settings.identity import IdentitySettings
from nl2sql.settings.serve import ServeSettings
from nl2sql.yaml_file import read_yaml
from serve_app.http.bodies import BoundedBodies
from serve_app.http.entrance import Entrance
from serve_app.http.identification import Identification
from serve_app.http.origins import HostRule, OriginRule

# The response headers that a page of an allowed origin may read.
_EXPOSED = [
    f"QuorumSQL-{name}"
    for name in "SQL Database Confidence Quorum Truncated Cut-Cells Session Rewritten Notes "
    "Trace-Id".split()
]


class FrontSettings(BaseModel):
    """The sections of ``quorumsql.yaml`` that these checks use."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    identity: IdentitySettings = IdentitySettings()
    limits: LimitSettings = LimitSettings()
    serve: ServeSettings = ServeSettings()


def pick_front_settings(settings: Settings) -> FrontSettings:
    """Those sections of the settings."""
    return FrontSettings(identity=settings.identity, limits=settings.limits, serve=settings.serve)


def read_front_settings(path: Path) -> FrontSettings:
    """Reads those sections of a settings file, which may contain others.

    Raises SettingsError if there is no such file, pydantic's ValidationError for its content: the
    service itself reads the same file and reports errors in it better.
    """
    return FrontSettings.model_validate(read_yaml(path))


def surround(app: ASGIApp, settings: FrontSettings, *, most_open_bodies: int) -> ASGIApp:
    """The application behind all checks."""
    limits, serve = settings.limits, settings.serve
    app = BoundedBodies(
        app,
        most_bytes=limits.body_bytes,
        timeout_s=limits.body_timeout_ms / 1000,
        most_open=most_open_bodies,
    )
    app = Identification(app, settings.identity)
    if serve.allowed_origins:
        # Before the token is checked, because a browser's preflight request carries none.
        app = CORSMiddleware(
            app,
            allow_origins=serve.allowed_origins,
            allow_methods=("GET", "POST", "DELETE"),
            allow_headers=("Authorization", "Content-Type"),
            expose_headers=_EXPOSED,
        )
    hosts = HostRule((*serve.allowed_hosts, serve.host))
    return Entrance(app, hosts, OriginRule(serve.allowed_origins))
