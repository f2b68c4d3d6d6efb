"""Open connections that are not in use, kept for the next caller.

Each is checked before it is lent, without a round trip: one that the server has ended is replaced
at once. If a server stops answering, it may be restarting, so callers wait some seconds for it. If
it still does not answer, all callers who came before that was known fail together.

Knows no driver, and does not limit how many are open: callers take turns elsewhere.
"""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Generic, Protocol, TypeVar

from nl2sql.errors import Unavailable

# How long callers wait for a server that answered before, and how often it is asked.
_PATIENCE_S = 5.0
_PAUSE_S = 0.1
# A server's process for a connection grows over time; and a firewall forgets an idle connection.
_LIFETIME_S = 3600.0
_IDLE_S = 600.0
_NEVER = float("-inf")


class Connection(Protocol):
    """A driver's connection, as far as it matters here; ``info`` has libpq's transaction status."""

    @property
    def closed(self) -> bool: ...

    @property
    def info(self) -> Any: ...

    def fileno(self) -> int: ...

    async def rollback(self) -> None: ...

    async def close(self) -> None: ...


_C = TypeVar("_C", bound=Connection)


class IdleConnections(Generic[_C]):
    """Lends open connections, the one that was used last first, or new ones of ``connect``.

    ``connect`` raises Unavailable if the server does not answer. For use in one event loop.
    """

    def __init__(self, connect: Callable[[], Awaitable[_C]]) -> None:
        self._connect = connect
        # Each with the times when it was opened and given back, in the order of the latter.
        self._idle: list[tuple[_C, float, float]] = []
        self._was_up = False
        self._failure = Unavailable("The server was not asked yet.")
        self._failed_at = self._patient_until = _NEVER

    @asynccontextmanager
    async def lend(self, since: float | None = None) -> AsyncIterator[_C]:
        """A connection for the block; a transaction that it leaves open is rolled back.

        One that it leaves in the middle of a statement is closed.

        ``since``, a time of ``time.monotonic``, is when the caller came; None: now. Raises what
        ``connect`` raises.
        """
        connection, opened = await self._take(time.monotonic() if since is None else since)
        try:
            yield connection
        finally:
            await _settle(connection)
            now = time.monotonic()
            while self._idle and now - self._idle[0][2] > _IDLE_S:
                await self._idle.pop(0)[0].close()
            if connection.closed or now - opened > _LIFETIME_S:
                await connection.close()
            else:
                self._idle.append((connection, opened, now))

    async def close(self) -> None:
        """Closes those that nobody uses."""
        while self._idle:
            await self._idle.pop()[0].close()

    async def _take(self, since: float) -> tuple[_C, float]:
        while True:
            while self._idle:
                connection, opened, _ = self._idle.pop()
                if not connection.closed and is_quiet(connection.fileno()):
                    return connection, opened
                await connection.close()
            if since > self._failed_at:
                try:
                    connection = await self._connect()
                except Unavailable as failure:
                    self._failure, self._failed_at = failure, time.monotonic()
                    if self._was_up:
                        self._was_up, self._patient_until = False, self._failed_at + _PATIENCE_S
                else:
                    self._was_up = True
                    return connection, time.monotonic()
            if time.monotonic() >= self._patient_until:
                # One object for all who fail now: its traceback must not grow with each of them.
                raise self._failure.with_traceback(None)
            await asyncio.sleep(_PAUSE_S)
            since = time.monotonic()


async def _settle(connection: Connection) -> None:
    try:
        if connection.info.transaction_status.name in ("INTRANS", "INERROR"):
            # What is wrong with the connection shows in its status.
            with suppress(Exception):
                await connection.rollback()
    finally:
        if connection.info.transaction_status.name != "IDLE":
            await connection.close()


def is_quiet(descriptor: int) -> bool:
    """True if the connection is open and nothing waits to be read.

    If the server closes an idle connection or stops, there is something to read: at least the end
    of the stream. The check costs one system call and no round trip.

    >>> import socket
    >>> here, there = socket.socketpair()
    >>> is_quiet(here.fileno())
    True
    >>> there.close()
    >>> is_quiet(here.fileno())
    False
    >>> here.close()
    """
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return not waiting.poll(0)
