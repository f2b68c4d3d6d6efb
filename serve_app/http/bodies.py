"""Reads the whole body of a request before its route is called, with limits on size and time.

The number of unfinished bodies is limited too. At the limit, the oldest is refused in favour of a
new one, so that clients that never finish displace only one another: an honest client sends its
body with the headers or soon after.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve_app.http.disconnection import ClientGone
from serve_app.http.entrance import find_header
from serve_app.http.problems import render_problem

# No route with these methods reads a body.
_BODILESS = ("GET", "HEAD", "OPTIONS", "DELETE")


class BoundedBodies:
    """Answers 413 to a body over ``most_bytes``, whatever its headers declare.

    Answers 408 if it is not complete after ``timeout_s``, or is the oldest of over ``most_open``.
    """

    def __init__(self, app: ASGIApp, *, most_bytes: int, timeout_s: float, most_open: int) -> None:
        self._app = app
        self._most_bytes = most_bytes
        self._timeout_s = timeout_s
        self._most_open = most_open
        self._open: dict[asyncio.Timeout, None] = {}  # the oldest first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _BODILESS:
            await self._app(scope, receive, send)
            return
        try:
            async with self._place():
                body = await self._read(scope, receive)
        except ClientGone:
            return
        except TimeoutError:
            refusal = render_problem(408, "Body too slow", "The body did not arrive in time.")
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)
            return
        if body is None:
            await self._refuse_large(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)

    @asynccontextmanager
    async def _place(self) -> AsyncIterator[None]:
        async with asyncio.timeout(self._timeout_s) as deadline:
            if len(self._open) >= self._most_open:
                oldest = next(iter(self._open))
                del self._open[oldest]
                if not oldest.expired():
                    oldest.reschedule(asyncio.get_running_loop().time())
            self._open[deadline] = None
            try:
                yield
            finally:
                self._open.pop(deadline, None)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None if it is too large. Raises ClientGone."""
        if any(
            not text.isdecimal() or len(text) > 18 or int(text) > self._most_bytes
            for text in find_header(scope, b"content-length")
        ):
            return None
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            body += message.get("body", b"")
            if len(body) > self._most_bytes:
                return None
            if not message.get("more_body", False):
                return bytes(body)

    async def _refuse_large(self, scope: Scope, receive: Receive, send: Send) -> None:
        limit = self._most_bytes
        response = render_problem(
            413,
            "Body too large",
            f"The body is larger than {limit} bytes.",
            errors=[{"field": "question", "message": f"at most {limit} bytes in all"}],
        )
        response.headers["Connection"] = "close"
        await response(scope, receive, send)
