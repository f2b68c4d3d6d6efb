"""Limits the number of connections, and the time and size of a request's head.

uvicorn waits for the headers of a request without a deadline and does not limit connections. This
module checks nothing after the headers.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# A browser may open a connection and use it a little later; sending a head needs no more.
HEAD_TIMEOUT_S = 10.0
# The limits of nginx and Apache are 8 to 32 KiB.
_MOST_HEAD_BYTES = 65_536
_MOST_CONNECTIONS = 1000
# The process opens other files, too.
_SHARE_OF_FILES = 2


def count_connections() -> int:
    """The limit on open connections: 1000, or half of this process's limit on open files."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # RLIM_INFINITY is negative.
    return min(_MOST_CONNECTIONS, soft // _SHARE_OF_FILES) if soft > 0 else _MOST_CONNECTIONS


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with a deadline and a size limit for the head of a request.

    Beyond ``most_connections`` the connection that has waited longest for a complete head is
    closed; if all are being answered, the new one.
    """

    head_timeout_s = HEAD_TIMEOUT_S
    most_connections = count_connections()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_deadline: asyncio.TimerHandle | None = None
        self._head_bytes = 0

    @property
    def is_waiting(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the deadline."""
        super().connection_made(transport)
        self._expect_head()
        if len(self.connections) > self.most_connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends the deadline."""
        super().connection_lost(exc)
        self._stop_expecting()

    def data_received(self, data: bytes) -> None:
        """Starts the deadline anew for the next request."""
        super().data_received(data)
        if not self.is_waiting or self.transport.is_closing():
            return
        if self._head_deadline is None:
            self._expect_head()
        self._head_bytes += len(data)
        if self._head_bytes > _MOST_HEAD_BYTES:
            self.transport.close()

    def on_headers_complete(self) -> None:
        """Ends the deadline."""
        super().on_headers_complete()
        self._stop_expecting()

    def _expect_head(self) -> None:
        self._head_bytes = 0
        self._head_deadline = self.loop.call_later(self.head_timeout_s, self.transport.close)

    def _stop_expecting(self) -> None:
        if self._head_deadline is not None:
            self._head_deadline.cancel()
            self._head_deadline = None

    def _make_room(self) -> None:
        waiting = [
            connection
            for connection in self.connections
            if isinstance(connection, BoundedProtocol)
            and connection is not self
            and connection.is_waiting
        ]
        oldest = min(waiting, key=BoundedProtocol._waits_until, default=self)
        self.connections.discard(oldest)
        oldest.transport.abort()

    def _waits_until(self) -> float:
        # Between two requests uvicorn's own deadline applies; closing then loses nothing.
        return self._head_deadline.when() if self._head_deadline else 0.0
