"""The first check of a request: refuses foreign hosts and pages, adds headers to every response.

Knows nothing of tokens and routes except the probes: a health check may use any host name, and then
gets a shorter answer.
"""

from __future__ import annotations

from fastapi.responses import JSONResponse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve_app.http.origins import HostRule, OriginRule
from serve_app.http.problems import render_problem

# The last is the probe of Ray's proxy, which KubeRay calls.
PROBES = ("/healthz", "/readyz", "/-/healthz")


class Entrance:
    """Answers 421 and 403. Leaves ``is_foreign`` in the scope's state."""

    def __init__(self, app: ASGIApp, hosts: HostRule, origins: OriginRule) -> None:
        self._app = app
        self._hosts = hosts
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                # Browsers must not guess another type.
                headers["X-Content-Type-Options"] = "nosniff"
                # Caches must not store one principal's answer; only files have a tag.
                if "etag" not in headers:
                    headers["Cache-Control"] = "no-store"
                message = {**message, "headers": headers.raw}
            await send(message)

        refusal = self._refuse(scope)
        if refusal is not None and scope["path"] not in PROBES:
            await refusal(scope, receive, send_with_headers)
            return
        state = {**scope.get("state", {}), "is_foreign": refusal is not None}
        await self._app({**scope, "state": state}, receive, send_with_headers)

    def _refuse(self, scope: Scope) -> JSONResponse | None:
        hosts = find_header(scope, b"host")
        origins = find_header(scope, b"origin")
        if len(hosts) != 1 or not self._hosts.allows(hosts[0]):
            return render_problem(
                421,
                "Unknown host",
                "The Host header names no host of this service. Use an IP address or localhost, "
                "or add the name to serve.allowed_hosts.",
            )
        origin = ", ".join(origins) if origins else None
        if not self._origins.allows(origin, hosts[0]) or (
            origin is None and _is_embedded_elsewhere(scope)
        ):
            return render_problem(
                403,
                "Foreign page",
                "Web pages of other origins may not use this service. To allow this one, add its "
                "origin to serve.allowed_origins.",
            )
        return None


def find_header(scope: Scope, name: bytes) -> list[str]:
    """All values of a header, as text."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _is_embedded_elsewhere(scope: Scope) -> bool:
    """Whether another site's page loads this as an image, script or frame, and not by a link."""
    site = find_header(scope, b"sec-fetch-site")
    mode = find_header(scope, b"sec-fetch-mode")
    dest = find_header(scope, b"sec-fetch-dest")
    is_link = mode == ["navigate"] and dest == ["document"] and scope["method"] == "GET"
    return site == ["cross-site"] and not is_link
