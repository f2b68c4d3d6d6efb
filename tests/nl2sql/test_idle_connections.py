"""Connections between two uses, over sockets that a test can close from the other side."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from nl2sql.errors import Unavailable
from nl2sql.idle_connections import IdleConnections


class FakeConnection:
    """One end of a pair of sockets; the server has the other."""

    def __init__(self) -> None:
        self._here, self._there = socket.socketpair()
        self.status = "IDLE"

    @property
    def closed(self) -> bool:
        return self._here.fileno() < 0

    @property
    def info(self) -> SimpleNamespace:
        return SimpleNamespace(transaction_status=SimpleNamespace(name=self.status))

    async def rollback(self) -> None:
        self.status = "IDLE"

    def fileno(self) -> int:
        return self._here.fileno()

    async def close(self) -> None:
        self._here.close()
        self._there.close()

    def end(self) -> None:
        """The server ends the connection."""
        self._there.close()


class FakeServer:
    """Opens connections, unless it is down; ``asked`` counts."""

    def __init__(self) -> None:
        self.is_down = False
        self.asked = 0
        self.connections: list[FakeConnection] = []

    async def connect(self) -> FakeConnection:
        """A new connection."""
        self.asked += 1
        await asyncio.sleep(0.01)
        if self.is_down:
            raise Unavailable("It is down.")
        self.connections.append(FakeConnection())
        return self.connections[-1]

    async def restart(self, seconds: float) -> None:
        """Ends all connections, and accepts none for that time."""
        self.is_down = True
        for connection in self.connections:
            connection.end()
        await asyncio.sleep(seconds)
        self.is_down = False


@pytest.fixture
def server() -> Iterator[FakeServer]:
    server = FakeServer()
    yield server
    for connection in server.connections:
        connection.end()


async def use(idle: IdleConnections[FakeConnection], seconds: float = 0.0) -> FakeConnection:
    async with idle.lend() as connection:
        await asyncio.sleep(seconds)
        return connection


async def test_a_connection_is_used_again(server: FakeServer) -> None:
    idle = IdleConnections(server.connect)
    first = await use(idle)
    assert [await use(idle) for _ in range(3)] == [first] * 3
    await idle.close()
    assert first.closed
    assert await use(idle) is not first


@pytest.mark.parametrize(
    ("status", "closed"), [("INTRANS", False), ("INERROR", False), ("ACTIVE", True)]
)
async def test_what_a_caller_leaves_open_is_ended(
    server: FakeServer, status: str, closed: bool
) -> None:
    idle = IdleConnections(server.connect)
    async with idle.lend() as connection:
        connection.status = status
    assert connection.closed is closed
    assert (await use(idle)).status == "IDLE"


async def test_those_that_the_server_has_ended_are_replaced_at_once(server: FakeServer) -> None:
    idle = IdleConnections(server.connect)
    await asyncio.gather(*(use(idle, 0.05) for _ in range(8)))
    for connection in server.connections:
        connection.end()
    async with asyncio.timeout(1):
        assert await use(idle) is server.connections[8]
    assert all(connection.closed for connection in server.connections[:8])


async def test_callers_wait_for_a_server_that_was_there_a_moment_ago(server: FakeServer) -> None:
    idle = IdleConnections(server.connect)
    await asyncio.gather(*(use(idle, 0.05) for _ in range(4)))
    restarting = asyncio.create_task(server.restart(0.3))
    await asyncio.sleep(0)
    async with asyncio.timeout(60):
        assert await use(idle) is server.connections[4]
    await restarting


async def test_without_a_server_all_fail_who_came_before_that_is_known(
    server: FakeServer,
) -> None:
    server.is_down = True
    idle = IdleConnections(server.connect)
    came = asyncio.get_running_loop().time()
    with pytest.raises(Unavailable):
        await use(idle)
    for _ in range(5):
        # They waited for their turn meanwhile.
        with pytest.raises(Unavailable):
            async with idle.lend(came):
                pass
    assert server.asked == 1
    server.is_down = False
    # Who comes later does not hear of it.
    assert await use(idle) is server.connections[0]
