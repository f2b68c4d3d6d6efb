"""A caller that is cancelled frees its backend, and its connection serves the next."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

import psycopg
import pytest

from execution.postgres.database import PostgresDatabase
from nl2sql.types import GuardedQuery, ResultSet
from tests.execution.conftest import Opener, Scratch
from tests.execution.expecting import expect
from tests.execution.trusted import trust
from tests.waiting import cancel

SLOW = "SELECT pg_sleep(60)"
MANY = "SELECT a, repeat('x', 500) AS b FROM generate_series(1, 10000000) AS a"
BUSY = "SELECT count(*) FROM generate_series(1, 100000) AS a, generate_series(1, 100000) AS b"

# The queries take longer; what is too slow by itself is no fault.
_PATIENCE_S = 20
_LIMIT_S = 60


def query(sql: str) -> GuardedQuery:
    return trust("scratch", sql)


class Backends:
    """What the reader's backends in the scratch database do."""

    def __init__(self, admin: psycopg.AsyncConnection) -> None:
        self._admin = admin

    async def count(self, state: str = "%") -> int:
        cursor = await self._admin.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = 'scratch'"
            " AND usename = 'quorumsql_reader' AND state LIKE %s",
            (state,),
        )
        (count,) = await cursor.fetchone() or (0,)
        return int(count)

    async def wait_until_busy(self) -> None:
        while await self.count("active") == 0:  # noqa: ASYNC110 - the server sets no event
            await asyncio.sleep(0.01)

    async def wait_until_free(self, most_s: float = _PATIENCE_S) -> None:
        async with asyncio.timeout(most_s):
            while await self.count() > await self.count("idle"):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)

    async def wait_until_at_most(self, most: int) -> None:
        """A closed connection's backend ends by itself, a moment later."""
        async with asyncio.timeout(_PATIENCE_S):
            while await self.count() > most:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)


@pytest.fixture
async def backends(scratch: Scratch) -> AsyncIterator[Backends]:
    async with await psycopg.AsyncConnection.connect(scratch.admin_url, autocommit=True) as admin:
        yield Backends(admin)


@pytest.fixture
def database(open_database: Opener) -> PostgresDatabase:
    return open_database(statement_timeout_ms=_LIMIT_S * 1000, max_estimated_rows=10**15)


@pytest.mark.parametrize("sql", [SLOW, MANY, BUSY])
async def test_a_cancelled_query_frees_its_backend(
    sql: str, database: PostgresDatabase, backends: Backends
) -> None:
    running = asyncio.create_task(database.execute(query(sql), 100_000))
    await backends.wait_until_busy()
    await cancel(running)
    await backends.wait_until_free()
    assert isinstance(await database.execute(query("SELECT 1"), 1), ResultSet)


async def test_a_query_that_is_cancelled_while_it_is_planned(
    database: PostgresDatabase, backends: Backends
) -> None:
    for ask in (database.explain, lambda asked: database.execute(asked, 1)):
        running = asyncio.create_task(ask(query("SELECT lab.dawdle()")))
        await backends.wait_until_busy()
        await cancel(running)
        await backends.wait_until_free()


async def test_a_caller_that_waits_for_a_connection_can_leave(
    open_database: Opener, backends: Backends
) -> None:
    database = open_database(statement_timeout_ms=_LIMIT_S * 1000, pool_size=1)
    holder = asyncio.create_task(database.execute(query(SLOW), 1))
    await backends.wait_until_busy()
    waiting = asyncio.create_task(database.execute(query("SELECT 1"), 1))
    await asyncio.sleep(0.05)
    await cancel(waiting)
    assert not holder.done()
    await cancel(holder)
    assert expect(ResultSet, await database.execute(query("SELECT 7"), 1)).rows == ((7,),)


async def test_whenever_callers_leave_the_pool_stays_whole(
    database: PostgresDatabase, backends: Backends
) -> None:
    dice = random.Random(7)
    queries = (SLOW, MANY, "SELECT 1", "SELECT nope", "SELECT * FROM lab.people")
    await database.execute(query("SELECT 1"), 1)
    for _ in range(60):
        running = [
            asyncio.create_task(database.execute(query(dice.choice(queries)), 1000))
            for _ in range(4)
        ]
        await asyncio.sleep(dice.random() * 0.006)
        for task in running:
            task.cancel()
        for answer in await asyncio.gather(*running, return_exceptions=True):
            assert not isinstance(answer, Exception), answer
    # A server drops a cancellation that comes before its query: the connection is closed, and the
    # query ends with its time limit.
    await backends.wait_until_free(_PATIENCE_S + _LIMIT_S)
    await backends.wait_until_at_most(2)
    results = await asyncio.gather(*(database.execute(query("SELECT 1"), 1) for _ in range(8)))
    assert [getattr(result, "rows", result) for result in results] == [((1,),)] * 8
