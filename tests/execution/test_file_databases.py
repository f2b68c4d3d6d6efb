"""What SQLite and DuckDB have in common as databases: limits, time, threads and odd files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.sqlite.database import SqliteDatabase
from nl2sql.catalog import Catalog
from nl2sql.deadline import ending_in
from nl2sql.errors import DatabaseUnavailable
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, Explained, GuardedQuery, ResultSet
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.expecting import expect
from tests.execution.sqlite import shop as sqlite_shop

# What nothing stops would keep the process from ending, too.
pytestmark = pytest.mark.timeout(100, method="thread")

Database = SqliteDatabase | DuckDbDatabase

LIMITS = LimitSettings(statement_timeout_ms=10_000, pool_size=2, file_memory_mib=256)
PATIENT = LimitSettings(statement_timeout_ms=120_000, pool_size=1)
HASTY = LimitSettings(statement_timeout_ms=300, pool_size=1)
TABLES = ("main.customers", "main.Orders")
COUNT = "SELECT count(*) FROM main.customers"
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "


@dataclass(frozen=True, slots=True)
class Engine:
    """One kind of database, with how to write its file."""

    name: str
    build: Callable[[Path], Catalog]
    write: Callable[[Path, str], None]
    open: Callable[[Path, LimitSettings], Database]

    def query(self, sql: str, *tables: str) -> GuardedQuery:
        return GuardedQuery("shop", sql, tables or TABLES, dialect=self.name)

    async def run(self, database: Database, sql: str, max_rows: int = 10) -> ResultSet:
        return expect(ResultSet, await database.execute(self.query(sql), max_rows))


ENGINES = {
    "sqlite": Engine(
        "sqlite", sqlite_shop.build_shop, sqlite_shop.write, partial(SqliteDatabase, "shop")
    ),
    "duckdb": Engine(
        "duckdb", duckdb_shop.build_shop, duckdb_shop.write, partial(DuckDbDatabase, "shop")
    ),
}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return ENGINES[request.param]


@pytest.fixture
def path(engine: Engine, tmp_path: Path) -> Path:
    path = tmp_path / f"shop.{engine.name}"
    engine.build(path)
    return path


@pytest.fixture
async def database(engine: Engine, path: Path) -> AsyncIterator[Database]:
    database = engine.open(path, LIMITS)
    yield database
    await database.close()


@pytest.fixture
def read_only(path: Path) -> Iterator[Path]:
    path.chmod(0o444)
    path.parent.chmod(0o555)
    yield path
    path.parent.chmod(0o755)


async def test_explaining_runs_nothing(engine: Engine, database: Database) -> None:
    expect(Explained, await database.explain(engine.query(f"{ENDLESS}SELECT count(*) FROM n")))


SLOW = {
    "aggregate": ("sqlite duckdb", f"{ENDLESS}SELECT count(*) FROM n"),
    "one_call_that_cannot_be_interrupted": (
        "sqlite",
        f"{ENDLESS}SELECT instr({sqlite_shop.LONG}, substr({sqlite_shop.LONG}, 1, 400000) || 'b')",
    ),
    "aggregate_of_a_range": ("duckdb", "SELECT count(*) FROM range(1000000000000)"),
}


@pytest.mark.parametrize(
    ("engine", "sql"),
    [
        pytest.param(name, sql, id=f"{name}-{title}")
        for title, (names, sql) in SLOW.items()
        for name in names.split()
    ],
    indirect=["engine"],
)
async def test_a_slow_query_is_ended_by_the_statement_timeout(
    engine: Engine, sql: str, path: Path
) -> None:
    database = engine.open(path, HASTY)
    result = expect(Diagnostic, await database.execute(engine.query(sql), 10))
    assert result.sqlstate == "57014"
    assert "300 ms" in result.message
    await database.close()


async def test_a_statement_has_no_more_time_than_its_request(engine: Engine, path: Path) -> None:
    database = engine.open(path, PATIENT)
    endless = engine.query(f"{ENDLESS}SELECT count(*) FROM n")
    async with ending_in(1.0):
        # Nobody cancels it when the time is over.
        late = asyncio.create_task(database.execute(endless, 1))
        await asyncio.sleep(0.1)
    assert expect(Diagnostic, await late).sqlstate == "57014"
    await database.close()


async def test_a_query_that_nobody_waits_for_any_more_is_interrupted(
    engine: Engine, path: Path
) -> None:
    database = engine.open(path, PATIENT)
    for _ in range(2):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await database.execute(engine.query(f"{ENDLESS}SELECT count(*) FROM n"), 1)
    # The only slot is free again, long before the query's time is over.
    assert (await engine.run(database, "SELECT 1")).rows == ((1,),)
    await database.close()


async def test_closing_ends_what_runs(engine: Engine, path: Path) -> None:
    database = engine.open(path, PATIENT)
    query = engine.query(f"{ENDLESS}SELECT count(*) FROM n")
    running = asyncio.create_task(database.execute(query, 1))
    await asyncio.sleep(0.3)
    await database.close()
    assert isinstance(await running, Diagnostic)
    assert (await engine.run(database, "SELECT 1")).rows == ((1,),)
    await database.close()


NAMES = {
    "sqlite": ("a?mode=rwc.db", "a&immutable=1.db", "100%41.db", "a#b.db", "ü b.db"),
    "duckdb": ("a?mode=rw.db", "100%41.db", "a#b.db", "ü b.db"),
}


@pytest.mark.parametrize(
    ("engine", "name"),
    [(engine, name) for engine, names in NAMES.items() for name in (*names, "a:b;c'd\"e.db")],
    indirect=["engine"],
)
async def test_a_path_is_a_path_whatever_its_signs(
    engine: Engine, name: str, tmp_path: Path
) -> None:
    engine.build(tmp_path / name)
    database = engine.open(tmp_path / name, LIMITS)
    assert (await engine.run(database, COUNT)).rows == ((4,),)
    await database.close()
    missing = engine.open(tmp_path / f"no{name}", LIMITS)
    assert await missing.probe()
    await missing.close()
    assert os.listdir(tmp_path) == [name]


async def test_a_file_in_a_folder_that_cannot_be_written(engine: Engine, read_only: Path) -> None:
    database = engine.open(read_only, LIMITS)
    assert (await engine.run(database, COUNT)).rows == ((4,),)
    assert await database.probe() == ""
    await database.close()


async def test_a_file_that_was_replaced_is_seen(
    engine: Engine, path: Path, database: Database
) -> None:
    await engine.run(database, "SELECT 1 FROM main.customers")
    other = path.with_name("new")
    engine.write(other, "CREATE TABLE customers (x INT); INSERT INTO customers VALUES (9)")
    other.replace(path)
    assert (await engine.run(database, "SELECT x FROM main.customers")).rows == ((9,),)
    os.remove(path)
    with pytest.raises(DatabaseUnavailable):
        await database.execute(engine.query("SELECT 1"), 1)


async def test_what_is_no_database_is_unavailable(engine: Engine, tmp_path: Path) -> None:
    text, missing = tmp_path / "notes.txt", tmp_path / "missing"
    text.write_text("no database at all, " * 1000)
    for path in (missing, text, tmp_path):
        database = engine.open(path, LIMITS)
        with pytest.raises(DatabaseUnavailable, match="cannot be read"):
            await database.execute(engine.query("SELECT 1"), 1)
        with pytest.raises(DatabaseUnavailable) as caught:
            await database.explain(engine.query("SELECT 1"))
        assert {"sqlite": "SQLite", "duckdb": "DuckDB"}[engine.name] in caught.value.hint
        assert "shop" in await database.probe()
        await database.close()
    assert not missing.exists()


# Rows of some 800 MB that must be sorted.
TOO_LARGE = {
    "sqlite": "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
    f"SELECT count(*) FROM (SELECT i || {sqlite_shop.LONG} AS t FROM n ORDER BY t LIMIT 1000)",
    "duckdb": "SELECT count(*) FROM (SELECT t, row_number() OVER (ORDER BY t) FROM (SELECT "
    "repeat(i::TEXT, 200) AS t FROM range(2000000) AS r (i) ORDER BY hamming(t, t), t))",
}


def list_open_files() -> set[str]:
    """With those that have no name any more, as SQLite's temporary files."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            found.add(os.readlink(f"/proc/self/fd/{number}"))
    return found


async def test_what_does_not_fit_into_memory_is_written_nowhere(engine: Engine, path: Path) -> None:
    database = engine.open(path, PATIENT.model_copy(update={"file_memory_mib": 256}))
    sql, files = engine.query(TOO_LARGE[engine.name]), set[str]()
    running = asyncio.create_task(database.execute(sql, 1))
    while not running.done():
        files |= list_open_files()
        await asyncio.sleep(0.01)
    found = expect(Diagnostic, await running)
    assert found.sqlstate == "53200"
    assert "limits.file_memory_mib" in found.hint
    assert not [file for file in files if "etilqs" in file or "duckdb_temp" in file]
    await engine.run(database, COUNT)
    await database.close()
