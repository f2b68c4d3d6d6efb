"""A PostgreSQL that accepts connections and is silent: nobody waits for anybody else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from execution.postgres import pool as pool_module
from execution.postgres.pool import Connection, ConnectionPool
from nl2sql.errors import DatabaseUnavailable, IndexUnavailable
from retrieval.catalogs import IndexedCatalogs
from retrieval.index_store import store as store_module
from retrieval.index_store.store import IndexStore
from serve_app.composition.wiring import Wiring
from tests.silent_relay import relaying

# One after the other, they would wait longer than the test does.
CALLERS = 20
WAIT_S = 1


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_CONNECT_TIMEOUT_S", WAIT_S)
    monkeypatch.setattr(store_module, "_CONNECT_TIMEOUT_S", WAIT_S)


async def select_one(connection: Connection) -> Any:
    return await (await connection.execute("SELECT 1")).fetchone()


async def fail_all(*calls: Awaitable[Any]) -> set[type[BaseException]]:
    """The kinds of errors of the calls, which all end within half of what a row of them takes."""
    async with asyncio.timeout(CALLERS * WAIT_S / 2):
        errors = await asyncio.gather(*calls, return_exceptions=True)
    return {type(error) for error in errors if isinstance(error, BaseException)}


async def test_the_first_callers_of_a_silent_database_fail_together(wiring: Wiring) -> None:
    async with relaying(wiring.reader_url("demo_erp")) as (relay, url):
        relay.silence()
        pool = ConnectionPool("demo", url, 2)
        calls = [pool.run(select_one) for _ in range(CALLERS)]
        assert await fail_all(*calls) == {DatabaseUnavailable}
        relay.speak()
        assert await pool.run(select_one) == (1,)
        await pool.close()


async def test_callers_of_a_database_that_falls_silent_end_in_time(wiring: Wiring) -> None:
    async with relaying(wiring.reader_url("demo_erp")) as (relay, url):
        pool = ConnectionPool("demo", url, 2)
        assert await pool.run(select_one) == (1,)
        relay.silence()

        async def give_up() -> None:
            async with asyncio.timeout(WAIT_S):
                await pool.run(select_one)

        # Those with a connection are stopped, the others get none.
        kinds = await fail_all(*(give_up() for _ in range(CALLERS)))
        assert kinds <= {TimeoutError, DatabaseUnavailable}
        relay.speak()
        assert await pool.run(select_one) == (1,)
        await pool.close()


async def test_readers_of_a_silent_index_fail_together(wiring: Wiring) -> None:
    async with relaying(wiring.index_url()) as (relay, url):
        relay.silence()
        store = IndexStore(url)
        catalogs = IndexedCatalogs(store)
        calls = [catalogs.catalog("demo_erp") for _ in range(CALLERS)]
        assert await fail_all(*calls) == {IndexUnavailable}
        relay.speak()
        assert (await catalogs.catalog("demo_erp")).database == "demo_erp"
        await store.close()
