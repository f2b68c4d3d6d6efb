"""Reads the whole body of a request before its route is called, with limits on size and time.

The number of unfinished bodies is limited too. At the limit, the oldest is refused in favour of a
new one, so that clients that never finish displace only one another: an honest client sends its
body with the headers or soon after.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import MappingProxyType

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve_app.http.disconnection import ClientGone
from serve_app.http.headers import find_header
from serve_app.http.problems import render_problem

# No route with these methods reads a body.
_BODILESS = ("GET", "HEAD", "OPTIONS", "DELETE")


@dataclass(frozen=True, slots=True)
class BodyLimit:
    """The most bytes of a body, and the most unfinished bodies at a time."""

    most_bytes: int
    most_open: int
    open: dict[asyncio.Timeout, None] = field(default_factory=dict)  # the oldest first


class BoundedBodies:
    """Answers 413 to a body with too many bytes, whatever its headers declare.

    Answers 408 if it is not complete after ``timeout_s``, or is the oldest of too many. ``limits``
    are those of some paths, which displace only one another.
    """

    def __init__(
        self,
        app: ASGIApp,
        limit: BodyLimit,
        *,
        timeout_s: float,
        limits: Mapping[str, BodyLimit] = MappingProxyType({}),
    ) -> None:
        self._app = app
        self._limit = limit
        self._limits = limits
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _BODILESS:
            await self._app(scope, receive, send)
            return
        limit = self._limits.get(scope["path"], self._limit)
        try:
            async with self._take_place(limit):
                body = await _read(scope, receive, limit.most_bytes)
        except ClientGone:
            return
        except TimeoutError:
            refusal = render_problem(408, "Body too slow", "The body did not arrive in time.")
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)
            return
        if body is None:
            await _refuse_large(limit.most_bytes)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)

    @asynccontextmanager
    async def _take_place(self, limit: BodyLimit) -> AsyncIterator[None]:
        async with asyncio.timeout(self._timeout_s) as deadline:
            if len(limit.open) >= limit.most_open:
                oldest = next(iter(limit.open))
                del limit.open[oldest]
                if not oldest.expired():
                    oldest.reschedule(asyncio.get_running_loop().time())
            limit.open[deadline] = None
            try:
                yield
            finally:
                limit.open.pop(deadline, None)


async def _read(scope: Scope, receive: Receive, most_bytes: int) -> bytes | None:
    """The body; None if it is too large. Raises ClientGone."""
    if any(
        not text.isdecimal() or len(text) > 18 or int(text) > most_bytes
        for text in find_header(scope, b"content-length")
    ):
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        body += message.get("body", b"")
        if len(body) > most_bytes:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _refuse_large(most_bytes: int) -> ASGIApp:
    response = render_problem(
        413,
        "Body too large",
        f"The body is larger than {most_bytes} bytes.",
        errors=[{"field": "question", "message": f"at most {most_bytes} bytes in all"}],
    )
    response.headers["Connection"] = "close"
    return response
