"""One request at the level of ASGI, byte by byte, as uvicorn hands it over."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote

from starlette.types import ASGIApp, Message, Scope

HOST = (b"host", b"localhost")
JSON = (b"content-type", b"application/json")
Headers = Sequence[tuple[bytes, bytes]]


def build_scope(method: str, target: str, headers: Headers = (HOST,)) -> Scope:
    """The scope of a request; ``target`` is its raw path, with a query or without."""
    path, _, query = target.partition("?")
    return {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1",
        "method": method, "scheme": "http", "path": unquote(path), "raw_path": path.encode(),
        "query_string": query.encode(), "root_path": "", "headers": list(headers),
        "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 50_000), "state": {},
    }  # fmt: skip


@dataclass
class Exchange:
    """A client that sends ``chunks``, and with ``ends`` unset never finishes; and what it gets."""

    chunks: Sequence[bytes] = ()
    ends: bool = True
    received: int = 0
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    async def send_to(self, app: ASGIApp, scope: Scope) -> Exchange:
        """Runs the request to its end."""
        await app(scope, self._receive, self._send)
        return self

    async def _receive(self) -> Message:
        at, self.received = self.received, self.received + 1
        last = max(len(self.chunks) - 1, 0)
        if at > last or (at == last and not self.ends and not self.chunks):
            await asyncio.Event().wait()
        chunk = self.chunks[at] if self.chunks else b""
        return {"type": "http.request", "body": chunk, "more_body": at < last or not self.ends}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            assert not self.status
            self.status = message["status"]
            for name, value in message["headers"]:
                assert name.decode() not in self.headers, name
                self.headers[name.decode()] = value.decode("latin-1")
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")
