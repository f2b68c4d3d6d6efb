"""The first to see a request: refuses foreign hosts and pages, and signs every response.

Knows nothing of tokens and routes, but for the probes: what asks whether the service lives may do
so by any name; then it is told less.
"""

from __future__ import annotations

from collections.abc import Sequence

from fastapi.responses import JSONResponse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve_app.http.origins import HostRule, OriginRule
from serve_app.problems import render_problem

# The last is that of Ray's proxy, which KubeRay asks.
PROBES = ("/healthz", "/readyz", "/-/healthz")
# No browser guesses another type, and no cache keeps what was said to one principal.
_SIGNATURE = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}
_Headers = Sequence[tuple[bytes, bytes]]


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
        body = _BodyWatch(scope["headers"], receive)

        async def sign(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message.get("headers", ())))
                headers.update(_SIGNATURE)
                if not body.is_read:
                    # What is left of it would be taken for the next request, or never come.
                    headers["Connection"] = "close"
                message = {**message, "headers": headers.raw}
            await send(message)

        refusal = self._refuse(scope)
        if refusal is not None and scope["path"] not in PROBES:
            await refusal(scope, body.receive, sign)
            return
        state = {**scope.get("state", {}), "is_foreign": refusal is not None}
        await self._app({**scope, "state": state}, body.receive, sign)

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


class _BodyWatch:
    """Knows whether all of a request's body was received."""

    def __init__(self, headers: _Headers, receive: Receive) -> None:
        self._receive = receive
        self.is_read = not any(
            name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
            for name, value in headers
        )

    async def receive(self) -> Message:
        message = await self._receive()
        self.is_read = self.is_read or not message.get("more_body", False)
        return message


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
