"""The server restarts, or ends connections that nobody uses, under a steady load."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace

import psycopg
import pytest

from execution.postgres.embedded import INDEXER, READER, SUPERUSER, EmbeddedServer
from nl2sql.errors import Unavailable
from nl2sql.types import ResultSet
from serve_app.composition.wiring import Wiring
from tests.execution.trusted import trust
from tests.serve_app.ray.test_serve_real import control_server

INTERVAL_S = 0.05
SPARE_S = 1.0

Ask = Callable[[], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Reply:
    """From when it was asked for until it came (monotonic); ``error`` is empty if it was right."""

    start: float
    end: float
    error: str


@pytest.fixture(params=["data", "index"])
async def ask(request: pytest.FixtureRequest, wiring: Wiring) -> AsyncIterator[Ask]:
    """Asks the database or the index something, as questions do."""
    database, store = wiring.build_databases()["demo_erp"], wiring.build_index_store()
    query = trust("demo_erp", "SELECT count(*), pg_sleep(0.02) FROM employees")

    numbers = itertools.count()

    async def ask_data() -> bool:
        # Each by another principal: one alone may not have all connections.
        asked = replace(query, principal=str(next(numbers)))
        return isinstance(await database.execute(asked, 1), ResultSet)

    async def ask_index() -> bool:
        return await store.head("demo_erp") is not None

    yield {"data": ask_data, "index": ask_index}[request.param]
    await database.close()
    await store.close()


class Load:
    """Asks twenty times a second until the block ends."""

    def __init__(self, ask: Ask) -> None:
        self.replies: list[Reply] = []
        self._ask = ask

    async def __aenter__(self) -> Load:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])
        await asyncio.gather(*self._asking)

    async def _run(self) -> None:
        self._asking: list[asyncio.Task[None]] = []
        while True:
            self._asking.append(asyncio.create_task(self._once()))
            await asyncio.sleep(INTERVAL_S)

    async def _once(self) -> None:
        start, error = time.monotonic(), ""
        try:
            if not await self._ask():
                error = "wrong"
        except Unavailable as failure:
            error = str(failure)
        self.replies.append(Reply(start, time.monotonic(), error))


async def test_a_restart_is_over_when_it_is_over(ask: Ask, embedded_server: EmbeddedServer) -> None:
    async with Load(ask) as load:
        await asyncio.sleep(0.5)
        begin = time.monotonic()
        await asyncio.to_thread(control_server, embedded_server, "restart", "-m", "fast")
        end = time.monotonic()
        await asyncio.sleep(SPARE_S + 0.5)
    # What runs when the server stops may fail, and what comes while it is down.
    outside = [reply for reply in load.replies if reply.end < begin or reply.start > end + SPARE_S]
    assert len(outside) > 10
    assert not [reply for reply in outside if reply.error]


@pytest.mark.parametrize("callers", [1, 8])
async def test_ended_idle_connections_fail_nobody(
    ask: Ask, callers: int, embedded_server: EmbeddedServer
) -> None:
    url = embedded_server.url("postgres", SUPERUSER)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        for _ in range(4):
            assert all(await asyncio.gather(*(ask() for _ in range(8))))
            ended = await admin.execute(
                "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity"
                " WHERE usename = ANY (%s) AND state = 'idle'",
                [[READER, INDEXER]],
            )
            assert (await ended.fetchone() or (0,))[0] > 1
            for _ in range(2):
                async with asyncio.timeout(3):
                    assert all(await asyncio.gather(*(ask() for _ in range(callers))))
