"""Installs our middleware and limits on connections in Ray Serve's HTTP proxy.

Ray's proxy forwards a request to a replica before its body is complete. Its only hook is a function
that ``RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH`` names, which it calls in its own process before
it starts its server. ``QUORUMSQL_SETTINGS`` is the settings file for that function. Both must be
set where the node's Ray is started.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import HTTP_PROTOCOLS

from serve_app.http.middleware import add_middleware
from serve_app.http.problems import CLIENT_GONE, render_problem
from serve_app.http.proxy_settings import SETTINGS_VARIABLE
from serve_app.settings import load_settings

# Ray's internal headers: they switch off its deadline and its detection of disconnected clients,
# choose a replica, or make the proxy fail if they are not UTF-8. Our clients need none of them.
_RAY_HEADERS = frozenset(
    {
        b"x-request-timeout-seconds",
        b"x-request-disconnect-disabled",
        b"serve-multiplexed-model-id",
        b"x-session-id",
    }
)
_REQUEST_ID = b"x-request-id"
_PLAIN_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")
# There is no application (as in a proxy that has just started) or replica, or it fails or hangs.
_RAYS_FAILURES = (404, 408, 500, 503)
_TRACEPARENT = b"traceparent"
_PLAIN_TRACEPARENT = re.compile(rb"(00-[0-9a-f]{32}-[0-9a-f]{16}-)[0-9a-f]{2}")


def build_middlewares() -> list[Middleware]:
    """Ray Serve calls this.

    Raises KeyError if ``QUORUMSQL_SETTINGS`` is not set, SettingsError if it cannot be read.
    """
    HTTP_PROTOCOLS["auto"] = "serve_app.http.connections:BoundedProtocol"
    settings = load_settings(Path(os.environ[SETTINGS_VARIABLE]))
    return [
        # The first is the innermost.
        Middleware(ReplicaFailures),
        Middleware(PlainHeaders),
        Middleware(add_middleware, settings=settings),
    ]


@dataclass(frozen=True, slots=True)
class PlainHeaders:
    """Removes headers that only Ray itself should set, and invalid ids of requests and traces."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "headers" in scope:
            kept = [
                (name, _mark_sampled(value) if name.lower() == _TRACEPARENT else value)
                for name, value in scope["headers"]
                if _is_kept(name, value)
            ]
            scope = {**scope, "headers": kept}
        await self.app(scope, receive, send)


@dataclass(frozen=True, slots=True)
class ReplicaFailures:
    """Answers 503 with a time to try again where Ray's proxy lost the replica of a request.

    Then the proxy sends nothing, which its server makes a 500, or a text with the traceback; or the
    replica lost the proxy, and says that its client has left. The service's own errors are problem
    documents.
    """

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        has_started = False

        async def send_known(message: Message) -> None:
            nonlocal start, has_started
            if message["type"] == "http.response.start":
                # It waits for a part of the body, as the replica may be lost between the two.
                start = None if _is_rays_failure(message) else message
            elif start is not None:
                if not has_started:
                    has_started = True
                    await send(start)
                await send(message)

        await self.app(scope, receive, send_known)
        if not has_started:
            detail = "The service lost a process; try again."
            await render_problem(503, "Temporarily unavailable", detail)(scope, receive, send)


def _is_rays_failure(start: Message) -> bool:
    if start["status"] == CLIENT_GONE:
        return True
    headers = Headers(raw=list(start.get("headers", ())))
    is_plain = headers.get("content-type", "text/plain").startswith("text/plain")
    return start["status"] in _RAYS_FAILURES and is_plain


def _mark_sampled(traceparent: bytes) -> bytes:
    """With the flag that the trace is sampled.

    Without it Ray's proxy would not trace, and each replica would begin a trace of its own.
    """
    return _PLAIN_TRACEPARENT.sub(rb"\g<1>01", traceparent)


def _is_kept(name: bytes, value: bytes) -> bool:
    name = name.lower().replace(b"_", b"-")
    if name == _REQUEST_ID:
        return bool(_PLAIN_ID.fullmatch(value))
    if name == _TRACEPARENT:
        # Ray's proxy fails on one that is not UTF-8.
        return bool(_PLAIN_TRACEPARENT.fullmatch(value))
    return name not in _RAY_HEADERS
