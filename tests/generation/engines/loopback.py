"""A real HTTP server that answers as a test says, and remembers what it was asked.

An answer is a ``Reply``, or a function of the request's JSON that gives one. The last of a path's
answers is given for ever.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Reply:
    """``body`` is sent as JSON, or as it is when it is bytes. ``cut``: only half of it is."""

    body: Any = None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    wait: threading.Event | None = None
    cut: bool = False


Answer = Reply | Callable[[dict[str, Any]], Reply]


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    path: str
    body: dict[str, Any]
    headers: dict[str, str]
    method: str


@dataclass
class Loopback:
    """The running server: its address, its answers by path, its history."""

    url: str
    answers: dict[str, list[Answer]]
    asked: list[Asked] = field(default_factory=list)
    waits: threading.Event = field(default_factory=threading.Event)
    """Set when a request waits for its answer."""
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when a client has closed its connection before it was answered."""

    def bodies(self, path: str) -> list[dict[str, Any]]:
        """What was asked under a path, in order."""
        return [request.body for request in self.asked if request.path == path]

    def answer(self, path: str, body: dict[str, Any]) -> Reply:
        """The next answer for the path; 404 where there is none."""
        queue = self.answers.get(path)
        if not queue:
            return Reply({"detail": "Not Found"}, status=404)
        found = queue.pop(0) if len(queue) > 1 else queue[0]
        return found if isinstance(found, Reply) else found(body)


@contextmanager
def serve(**answers: Answer | list[Answer]) -> Iterator[Loopback]:
    """A server whose paths are the keywords: ``__`` stands for a slash."""
    paths = {
        "/" + name.replace("__", "/"): replies if isinstance(replies, list) else [replies]
        for name, replies in answers.items()
    }
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.loopback = Loopback(f"http://127.0.0.1:{server.server_port}", paths)  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server.loopback  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._handle({})

    def do_HEAD(self) -> None:
        self._handle({})

    def do_POST(self) -> None:
        self._handle(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Says nothing."""

    def _handle(self, body: dict[str, Any]) -> None:
        loopback: Loopback = self.server.loopback  # type: ignore[attr-defined]
        loopback.asked.append(
            Asked(self.path, body, {k.lower(): v for k, v in self.headers.items()}, self.command)
        )
        reply = loopback.answer(urlsplit(self.path).path, body)
        if reply.wait is not None:
            loopback.waits.set()
            if not self._wait(reply.wait):
                loopback.gone.set()
                return
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for name, value in reply.headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content[: len(content) // 2] if reply.cut else content)
        if reply.cut:
            self.close_connection = True

    def _wait(self, event: threading.Event) -> bool:
        """Waits; False when the client has gone meanwhile."""
        self.connection.settimeout(0.02)
        while not event.is_set():
            try:
                if not self.connection.recv(1, socket.MSG_PEEK):
                    return False
            except TimeoutError:
                continue
        self.connection.settimeout(None)
        return True


async def wait_for(event: threading.Event) -> bool:
    """Whether the event was set within some seconds."""
    return await asyncio.to_thread(event.wait, 20)
