"""How long one principal's short queries take while another runs long ones, on each database.

    nice -n 10 python -m bench.fairness [seconds]

The greedy principal keeps ten recursions running that only the time limit ends (two seconds here);
the polite one asks one query after the other, for some seconds alone and as long beside the greedy
one. Prints milliseconds and what failed.
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import duckdb
import numpy as np
import psycopg

from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from execution.sqlite.database import SqliteDatabase
from nl2sql.errors import Unavailable
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, GuardedQuery
from tests.execution.trusted import trust

LIMITS = LimitSettings(statement_timeout_ms=2000)
GREEDY = 10
LONG = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
SHORT = "SELECT a % 7 AS day, count(*), sum(a) FROM {} GROUP BY 1 ORDER BY 1"
TABLE = "CREATE TABLE t (a integer)"
# So many that a query takes some ten milliseconds of an idle processor.
ROWS = (
    "INSERT INTO t WITH RECURSIVE n (i) AS"
    " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000) SELECT i FROM n"
)


@contextmanager
def open_databases(folder: Path) -> Iterator[dict[str, Database]]:
    """An empty database of each kind."""
    sqlite3.connect(folder / "sqlite").executescript(f"{TABLE}; {ROWS};").close()
    with duckdb.connect(folder / "duckdb") as file:
        file.execute(f"{TABLE}; INSERT INTO t SELECT i FROM range(1000000) AS r (i)")
    server = EmbeddedServer(folder / "postgres")
    server.start()
    with psycopg.connect(server.url("postgres", SUPERUSER)) as connection:
        connection.execute(f"{TABLE}; {ROWS}; GRANT SELECT ON t TO PUBLIC".encode())
    try:
        yield {
            "postgres": PostgresDatabase("postgres", server.url("postgres", READER), LIMITS),
            "sqlite": SqliteDatabase("sqlite", folder / "sqlite", LIMITS),
            "duckdb": DuckDbDatabase("duckdb", folder / "duckdb", LIMITS),
        }
    finally:
        server.stop()


def build_query(name: str, sql: str, who: str) -> GuardedQuery:
    """The query, as the guard would pass it on."""
    if name == "postgres":
        trusted = trust(name, sql.format("public.t"), tables=("public.t",))
        return replace(trusted, principal=who)
    return GuardedQuery(name, sql.format("main.t"), ("main.t",), dialect=name, principal=who)


async def ask_politely(name: str, database: Database, seconds: float) -> tuple[list[float], int]:
    """Milliseconds of each query, and how many failed."""
    query = build_query(name, SHORT, "polite")
    times, failed, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.perf_counter()
        try:
            failed += isinstance(await database.execute(query, 1), Diagnostic)
        except Unavailable:
            failed += 1
        times.append((time.perf_counter() - start) * 1000)
    return times, failed


async def measure(name: str, database: Database, seconds: float) -> None:
    """Prints one line for each of both cases."""

    async def ask_greedily() -> None:
        while True:
            await database.execute(build_query(name, LONG, "greedy"), 1)

    await database.execute(build_query(name, "SELECT 1", "polite"), 1)
    alone = await ask_politely(name, database, seconds)
    greedy = [asyncio.create_task(ask_greedily()) for _ in range(GREEDY)]
    await asyncio.sleep(0.5)
    beside = await ask_politely(name, database, seconds)
    for task in greedy:
        task.cancel()
    await asyncio.wait(greedy)
    await database.close()
    for case, (times, failed) in {"alone": alone, "beside the greedy one": beside}.items():
        p50, p95 = np.percentile(times, (50, 95))
        print(
            f"{name:9} {case:22} n {len(times):5}  p50 {p50:7.1f}  p95 {p95:7.1f}  failed {failed}"
        )


async def measure_all(databases: Mapping[str, Database], seconds: float) -> None:
    """One database after the other."""
    for name, database in databases.items():
        await measure(name, database, seconds)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 8.0
    with tempfile.TemporaryDirectory(prefix="fair-") as folder:
        Path(folder).chmod(0o755)
        with open_databases(Path(folder)) as databases:
            asyncio.run(measure_all(databases, seconds))


if __name__ == "__main__":
    main()
