"""The first to see a request: refuses foreign hosts and pages, and signs every response.

Knows nothing of tokens and routes, but for the probes: what asks whether the service lives may do
so by any name; then it is told less.
"""

from __future__ import annotations

from fastapi.responses import JSONResponse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve_app.http.origins import HostRule, OriginRule
from serve_app.http.problems import render_problem

# The last is that of Ray's proxy, which KubeRay asks.
PROBES = ("/healthz", "/readyz", "/-/healthz")
# No browser guesses another type, and no cache keeps what was said to one principal.
_SIGNATURE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


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

        async def sign(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                headers.update(_SIGNATURE)
                message = {**message, "headers": headers.raw}
            await send(message)

        refusal = self._refuse(scope)
        if refusal is not None and scope["path"] not in PROBES:
            await refusal(scope, receive, sign)
            return
        state = {**scope.get("state", {}), "is_foreign": refusal is not None}
        await self._app({**scope, "state": state}, receive, sign)

    def _refuse(self, scope: Scope) -> JSONResponse | None:
        hosts = find_header(scope, b"host")
        origins = find_header(scope, b"origin")
        if len(hosts) != 1 or not self._hosts.allows(hosts[0]):
            return render_problem(
                421,
                "Unknown host",
                "The service does not go by the name that the Host header gives. Ask by an IP "
                "address or localhost, or add the name to serve.allowed_hosts.",
            )
        origin = ", ".join(origins) if origins else None
        if not self._origins.allows(origin, hosts[0]) or (
            origin is None and _is_embedded_elsewhere(scope)
        ):
            return render_problem(
                403,
                "Foreign page",
                "A web page of another origin may not ask here. Add it to serve.allowed_origins "
                "if it should.",
            )
        return None


def find_header(scope: Scope, name: bytes) -> list[str]:
    """All values of a header, as text."""
    return [value.decode("latin-1") for each, value in scope["headers"] if each == name]


def _is_embedded_elsewhere(scope: Scope) -> bool:
    """Whether another site's page loads this as an image, a script, a frame; a link is none."""
    site = find_header(scope, b"sec-fetch-site")
    mode = find_header(scope, b"sec-fetch-mode")
    dest = find_header(scope, b"sec-fetch-dest")
    is_link = mode == ["navigate"] and dest == ["document"] and scope["method"] == "GET"
    return site == ["cross-site"] and not is_link
