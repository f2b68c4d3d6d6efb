"""One principal with many long queries, and others, at each kind of database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from execution.executor import Database, ReadOnlyExecutor
from nl2sql.deadline import ending_in
from nl2sql.errors import Busy
from nl2sql.settings import LimitSettings
from nl2sql.types import NO_TURN, Diagnostic, ExecutionLimits, GuardedQuery, ResultSet
from tests.execution.conftest import Opener
from tests.execution.expecting import expect
from tests.execution.test_file_databases import ENDLESS, ENGINES
from tests.execution.trusted import trust

# What nothing stops would keep the process from ending, too.
pytestmark = pytest.mark.timeout(100, method="thread")

SIZE = 8
LONG_MS = 60_000


@dataclass(frozen=True, slots=True)
class Shared:
    """A database that principals share; ``long`` is a query that only its limit ends."""

    name: str
    open: Callable[[int], Database]
    query: Callable[[str], GuardedQuery]
    long: str

    async def run(self, database: Database, who: str, sql: str) -> ResultSet | Diagnostic:
        """Runs a query of that principal."""
        return await database.execute(replace(self.query(sql), principal=who), 1)

    @asynccontextmanager
    async def running(
        self, database: Database, who: str, count: int
    ) -> AsyncIterator[Sequence[asyncio.Task[ResultSet | Diagnostic]]]:
        """So many long queries of that principal, which the end of the block cancels."""
        tasks = [asyncio.create_task(self.run(database, who, self.long)) for _ in range(count)]
        await asyncio.sleep(0.2)
        yield tasks
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


@pytest.fixture(params=["postgres", "sqlite", "duckdb"])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Shared:
    name = request.param
    if name == "postgres":
        opener: Opener = request.getfixturevalue("open_database")
        return Shared(
            name,
            lambda size: opener(statement_timeout_ms=LONG_MS, pool_size=size),
            lambda sql: trust("scratch", sql),
            "SELECT pg_sleep(60)",
        )
    engine = ENGINES[name]
    engine.build(tmp_path / name)

    def open_file(size: int) -> Database:
        return engine.open(
            tmp_path / name, LimitSettings(statement_timeout_ms=LONG_MS, pool_size=size)
        )

    return Shared(name, open_file, engine.query, f"{ENDLESS}SELECT count(*) FROM n")


async def test_long_queries_of_one_principal_hold_up_nobody_else(shared: Shared) -> None:
    database = shared.open(SIZE)
    async with shared.running(database, "greedy", SIZE + 2) as long:
        for at in range(10):
            result = await shared.run(database, "polite", f"SELECT {at}")
            assert expect(ResultSet, result).rows == ((at,),)
        # The polite one had a turn though none of the others ended.
        assert not any(task.done() for task in long)
    await database.close()


async def test_a_busy_database_is_told_from_one_that_does_not_answer(shared: Shared) -> None:
    database = shared.open(SIZE)
    executor = ReadOnlyExecutor({database.name: database})  # type: ignore[attr-defined]
    query = replace(shared.query("SELECT 1"), principal="greedy")
    async with shared.running(database, "greedy", SIZE):
        # Half of the request's time is left for what follows.
        async with asyncio.timeout(5), ending_in(10.0):
            with pytest.raises(Busy, match="busy") as busy:
                async with ending_in(0.6):
                    await executor.execute(query, 1)
            with pytest.raises(Busy):
                async with ending_in(0.6):
                    await executor.explain(query)
            # A statement with a limit of its own waits no longer than it may run.
            limited = await executor.execute(query, 1, ExecutionLimits(200, 2**20))
        assert busy.value.retry_after_s >= 1
        assert expect(Diagnostic, limited).sqlstate == NO_TURN
    await database.close()


async def test_a_probe_waits_for_no_query(shared: Shared) -> None:
    database = shared.open(1)
    async with shared.running(database, "greedy", 3) as long, asyncio.timeout(5):
        assert await database.probe() == ""
        assert not any(task.done() for task in long)
    await database.close()
