"""Reading the headers of a request and changing those of a response, for middleware."""

from __future__ import annotations

from collections.abc import Callable

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Scope, Send


def find_header(scope: Scope, name: bytes) -> list[str]:
    """All values of a header, as text."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def change_headers(send: Send, change: Callable[[MutableHeaders, int], None]) -> Send:
    """Sends responses after ``change(headers, status)`` has changed their headers."""

    async def send_changed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            change(headers, message["status"])
            message = {**message, "headers": headers.raw}
        await send(message)

    return send_changed
