"""Puts our front and our limits on connections into Ray Serve's HTTP proxy.

Ray's proxy hands every request to a replica at once, however little of it has come, and offers one
hook: it calls the function that ``RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH`` names, in its own
process, before it starts its server. ``QUORUMSQL_SETTINGS`` tells that function the settings file.
Both must be set where the node's Ray is started.
"""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping
from pathlib import Path

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import HTTP_PROTOCOLS

from serve_app.http.connections import count_connections
from serve_app.http.middleware import FrontSettings, read_front_settings, surround

_CALLBACK = "serve_app.http.proxy:build_middlewares"
_CALLBACK_VARIABLE = "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"
_SETTINGS_VARIABLE = "QUORUMSQL_SETTINGS"
# Ray's own headers: they switch off its deadline and its watch for clients that leave, choose a
# replica, or make the proxy fail where they are no UTF-8. None is for clients of ours.
_RAYS_OWN = frozenset(
    {
        b"x-request-timeout-seconds",
        b"x-request-disconnect-disabled",
        b"serve-multiplexed-model-id",
        b"x-session-id",
    }
)
_REQUEST_ID = b"x-request-id"
_PLAIN_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")


def prepare_proxy(
    settings: FrontSettings, folder: Path, environ: MutableMapping[str, str] = os.environ
) -> None:
    """Has the proxies of the Ray that is started next stand behind the front.

    The settings go through a file in ``folder``; no secret is among them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "front.yaml"
    file.write_text(settings.model_dump_json())
    environ[_CALLBACK_VARIABLE] = _CALLBACK
    environ[_SETTINGS_VARIABLE] = str(file)


def build_middlewares() -> list[Middleware]:
    """Called by Ray Serve. Raises KeyError where the settings file is not named."""
    HTTP_PROTOCOLS["auto"] = "serve_app.http.connections:BoundedProtocol"
    settings = read_front_settings(Path(os.environ[_SETTINGS_VARIABLE]))
    return [
        Middleware(PlainHeaders),
        # Here an open body costs a connection and its bytes, and nothing else.
        Middleware(surround, settings=settings, most_open_bodies=count_connections()),
    ]


class PlainHeaders:
    """Takes the headers away that only Ray itself should set, and ids that are none."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "headers" in scope:
            kept = [(name, value) for name, value in scope["headers"] if _is_kept(name, value)]
            scope = {**scope, "headers": kept}
        await self._app(scope, receive, send)


def _is_kept(name: bytes, value: bytes) -> bool:
    name = name.lower().replace(b"_", b"-")
    if name == _REQUEST_ID:
        return bool(_PLAIN_ID.fullmatch(value))
    return name not in _RAYS_OWN
