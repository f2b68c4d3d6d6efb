"""The read-only database, on a real PostgreSQL.

The queries here are put into a GuardedQuery by hand: the restrictions behind the guard have to hold
without it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from execution.executor import Database
from execution.postgres.database import PostgresDatabase
from nl2sql.errors import DatabaseUnavailable, UnknownDatabase
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, Explained, GuardedQuery, ResultSet
from serve_app.composition.database_kinds import open_database
from serve_app.composition.wiring import Wiring
from tests.execution.expecting import expect
from tests.execution.trusted import trust
from tests.golden import load_cases
from tests.silent_relay import relaying


def query(sql: str, database: str = "demo_erp") -> GuardedQuery:
    return trust(database, sql)


@pytest.fixture
async def database(wiring: Wiring) -> AsyncIterator[Database]:
    database = open_database(wiring, "demo_erp")
    assert isinstance(database, PostgresDatabase)
    yield database
    await database.close()


async def run(database: Database, sql: str, max_rows: int = 10) -> ResultSet:
    return expect(ResultSet, await database.execute(query(sql), max_rows))


async def fail(database: Database, sql: str) -> Diagnostic:
    return expect(Diagnostic, await database.execute(query(sql), 10))


async def test_gives_rows_with_names_and_types(database: Database) -> None:
    result = await run(database, "SELECT 1 AS one, 'a'::text AS letter, 1.50::numeric(4,2) AS n")
    assert result.columns == ("one", "letter", "n")
    assert result.types == ("int4", "text", "numeric(4,2)")
    assert not result.truncated


async def test_keeps_the_order_of_the_query_under_the_limit(database: Database) -> None:
    result = await run(database, "SELECT salary FROM employees ORDER BY salary DESC LIMIT 50", 20)
    salaries: list[Any] = [row[0] for row in result.rows]
    assert salaries == sorted(salaries, reverse=True)
    assert len(salaries) == 20


async def test_explains_without_running(database: Database) -> None:
    explained = await database.explain(query("SELECT pg_sleep(100) FROM employees"))
    assert isinstance(explained, Explained)
    assert explained.cost > 0
    assert explained.rows > 0


@pytest.mark.parametrize("sql", [sql for _, sql in load_cases("restrictions_postgres")])
async def test_nothing_can_be_written_or_read_besides_even_without_the_guard(
    database: Database, sql: str
) -> None:
    before = await run(database, "SELECT count(*) FROM sales.orders")
    await fail(database, sql)
    after = await run(database, "SELECT count(*) FROM sales.orders")
    assert after.rows == before.rows


async def test_what_a_query_set_is_rolled_back(database: Database) -> None:
    await run(database, "SELECT set_config('work_mem', '1GB', false)")
    result = await run(database, "SELECT current_setting('work_mem')")
    assert result.rows == (("32MB",),)


async def test_a_server_that_is_not_there_is_an_error_with_a_hint(wiring: Wiring) -> None:
    database = PostgresDatabase(
        "gone", "postgresql://nobody@127.0.0.1:1/none", wiring.settings.limits
    )
    with pytest.raises(DatabaseUnavailable, match="doctor"):
        await database.execute(query("SELECT 1"), 1)
    assert "gone" in await database.probe()


async def test_the_executor_keeps_databases_apart(wiring: Wiring) -> None:
    executor = wiring.build_executor()
    try:
        names = [
            await executor.execute(query("SELECT current_database()", name), 1)
            for name in ("demo_erp", "second")
        ]
        assert [name.rows for name in names if isinstance(name, ResultSet)] == [
            (("demo_erp",),),
            (("second",),),
        ]
        with pytest.raises(UnknownDatabase):
            await executor.explain(query("SELECT 1", "third"))
        assert dict(await executor.probe()) == {"database demo_erp": "", "database second": ""}
    finally:
        await executor.close()


async def test_a_host_may_be_an_address_of_ipv6(wiring: Wiring) -> None:
    async with relaying(wiring.reader_url("demo_erp"), "::1") as (_, url):
        assert "@[::1]:" in url
        database = PostgresDatabase("demo_erp", url, LimitSettings())
        assert await database.probe() == ""
        assert (await run(database, "SELECT 1")).rows == ((1,),)
        await database.close()
