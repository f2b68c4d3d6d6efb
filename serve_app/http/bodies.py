"""Reads the whole body of a request before its route is called, with limits on size and time.

Of those that everybody may send, the number of unfinished ones is limited too. At the limit, the
oldest is refused in favour of a new one, so that clients that never finish displace only one
another: an honest client sends its body with the headers or soon after.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve_app.http.disconnection import ClientGone
from serve_app.http.headers import find_header
from serve_app.http.problems import render_problem

# No route with these methods reads a body.
_BODILESS = ("GET", "HEAD", "OPTIONS", "DELETE")
# From the headers of a request to the end of its body.
_TIMEOUT_S = 10.0
# The most bytes of a body that everybody may send, and the most unfinished ones.
_OPEN_BYTES, _MOST_OPEN = 32_768, 32


@dataclass(eq=False, slots=True)
class BoundedBodies:
    """Answers 413 to a body with too many bytes, whatever its headers declare.

    Answers 408 if it is not complete in time. Everybody may send bodies to the ``open_paths``.
    """

    app: ASGIApp
    most_bytes: int
    _: KW_ONLY
    open_paths: Collection[str] = ()
    timeout_s: float = _TIMEOUT_S
    _open: dict[asyncio.Timeout, None] = field(default_factory=dict, init=False)  # oldest first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] in _BODILESS:
            await self.app(scope, receive, send)
            return
        is_open = scope["path"] in self.open_paths
        most_bytes = min(self.most_bytes, _OPEN_BYTES) if is_open else self.most_bytes
        try:
            async with (
                asyncio.timeout(self.timeout_s) as deadline,
                self._take_place(deadline) if is_open else nullcontext(),
            ):
                body = await _read(scope, receive, most_bytes)
        except ClientGone:
            return
        except TimeoutError:
            refusal = render_problem(408, "Body too slow", "The body did not arrive in time.")
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)
            return
        if body is None:
            await _refuse_large(most_bytes)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self.app(scope, replay, send)

    @asynccontextmanager
    async def _take_place(self, deadline: asyncio.Timeout) -> AsyncIterator[None]:
        if len(self._open) >= _MOST_OPEN:
            oldest = next(iter(self._open))
            del self._open[oldest]
            if not oldest.expired():
                oldest.reschedule(asyncio.get_running_loop().time())
        self._open[deadline] = None
        try:
            yield
        finally:
            self._open.pop(deadline, None)


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
        errors=[{"field": "body", "message": f"at most {most_bytes} bytes in all"}],
    )
    response.headers["Connection"] = "close"
    return response
