"""The server ends connections that nobody uses; ``tests/chaos`` restarts it under load."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import psycopg
import pytest

from execution.postgres.embedded import INDEXER, READER, SUPERUSER, EmbeddedServer
from nl2sql.types import ResultSet
from serve_app.composition.database_kinds import open_database
from serve_app.composition.wiring import Wiring
from tests.execution.trusted import trust

Ask = Callable[[], Awaitable[bool]]


@pytest.fixture(params=["data", "index"])
async def ask(request: pytest.FixtureRequest, wiring: Wiring) -> AsyncIterator[Ask]:
    """Asks the database or the index something, as questions do."""
    database, store = open_database(wiring, "demo_erp"), wiring.build_index_store()
    query = trust("demo_erp", "SELECT count(*), pg_sleep(0.02) FROM employees")

    numbers = itertools.count()

    async def ask_data() -> bool:
        # Each by another principal: one alone may not have all connections.
        asked = replace(query, principal=str(next(numbers)))
        return isinstance(await database.execute(asked, 1), ResultSet)

    async def ask_index() -> bool:
        return bool(await store.heads())

    yield {"data": ask_data, "index": ask_index}[request.param]
    await database.close()
    await store.close()


@pytest.mark.parametrize("callers", [1, 8])
async def test_ended_idle_connections_fail_nobody(
    ask: Ask, callers: int, embedded_server: EmbeddedServer
) -> None:
    url = embedded_server.url("postgres", SUPERUSER)
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as admin:
        for _ in range(4):
            assert all(await asyncio.gather(*(ask() for _ in range(8))))
            idle = await admin.execute(
                "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE usename = ANY (%s) AND state = 'idle'",
                [[READER, INDEXER]],
            )
            ended = [pid for pid, _ in await idle.fetchall()]
            assert len(ended) > 1
            # It waits for each in steps of 100 ms, so they are all told before.
            await admin.execute("SELECT pg_terminate_backend(unnest(%s), 5000)", [ended])
            for _ in range(2):
                async with asyncio.timeout(20):
                    assert all(await asyncio.gather(*(ask() for _ in range(callers))))
