"""The read-only connection to one DuckDB file.

Three restrictions in addition to the guard: the file is attached READ_ONLY to an instance with a
locked configuration, without access to other files, the network and extensions (``file.py``);
DuckDB's own reading of every statement is checked before it runs (``statement.py``); and each
statement has its own connection, so that nothing is left for the next. Statements run in threads;
time, memory, pairs of rows in a join, rows and bytes are limited.

The file is open while statements run and a moment longer; meanwhile no other process can write it.
A replaced file is noticed. Does not cover a single call that DuckDB does not interrupt; its caller
is answered in time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from execution.allowlists import Allowlist, load_allowlist
from execution.duckdb.file import MOST_THREADS, SharedFile
from execution.duckdb.page import build_description, build_page
from execution.duckdb.statement import DuckdbStatement
from execution.results.collector import PageQuery, ResultBuilder, tighten_limits
from execution.statement_threads import Answer, StatementThreads
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, ExecutionLimits, Explained, GuardedQuery, ResultSet

# How long the file stays open for the next statement; opening it takes some 50 ms.
_LINGER_S = 2


class DuckDbDatabase:
    """EXPLAIN and read-only execution, at most ``limits.pool_size`` at a time."""

    def __init__(
        self,
        name: str,
        path: Path,
        limits: LimitSettings,
        allowlist: Allowlist | None = None,
    ) -> None:
        """``allowlist`` is the guard's for this database; None means the dialect's."""
        self.name = name
        self._limits = limits
        self._allowlist = allowlist or load_allowlist("duckdb")
        self._file = SharedFile(name, path, limits)
        self._threads = StatementThreads(
            name, limits.pool_size, self._rest, processors=MOST_THREADS
        )
        self._closing: asyncio.TimerHandle | None = None

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic:
        """DuckDB's estimates, or the error. Raises DatabaseUnavailable.

        DuckDB has no cost: ``cost`` is the sum of the rows of all steps, ``rows`` the most of one.
        """

        def work(statement: DuckdbStatement[Explained]) -> Explained | Diagnostic:
            return statement.plan(PageQuery(query.sql), self._limits.max_estimated_rows)

        build = partial(self._build, query, work=work)
        return await self._threads.run(build, who=query.principal)

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        """At most ``max_rows`` rows, or the database's error. Raises DatabaseUnavailable.

        One row more is fetched, to tell whether there were more. A query whose plan expects too
        many rows does not run; the error has SQLSTATE 54001.
        """

        def work(statement: DuckdbStatement[ResultSet]) -> ResultSet | Diagnostic:
            start, within = time.perf_counter(), statement.limits
            columns = statement.describe(build_description(query.sql))
            types = [kind for _, kind in columns]
            page = build_page(query.sql, types, max_rows + 1, within)
            explained = statement.plan(page, self._limits.max_estimated_rows)
            if isinstance(explained, Diagnostic):
                return explained
            names = [name for name, _ in columns]
            builder = ResultBuilder(names, max_rows, within, page.readers)
            cursor = statement.execute(page)
            while rows := cursor.fetchmany(page.rows_a_chunk):
                if not all(map(builder.add, rows)):
                    break
            return builder.build(types, (time.perf_counter() - start) * 1000)

        build = partial(self._build, query, limits, work=work)
        return await self._threads.run(build, who=query.principal, limits=limits)

    async def probe(self) -> str:
        """What is wrong with this database; empty if nothing is."""

        def work(statement: DuckdbStatement[bool]) -> bool:
            return bool(statement.execute(PageQuery(statement.query.sql)).fetchall())

        return await self._threads.probe(partial(self._build, work=work))

    async def close(self) -> None:
        """Stops running statements and closes the file; a later call opens it again."""
        await self._threads.close()
        await asyncio.to_thread(self._file.close)

    def _build(
        self,
        query: GuardedQuery,
        tighter: ExecutionLimits | None = None,
        *,
        work: Callable[[DuckdbStatement[Any]], Answer | Diagnostic],
    ) -> DuckdbStatement[Answer]:
        limits = tighten_limits(self._limits, tighter)
        return DuckdbStatement(self._file, query, self._allowlist, work, limits)

    def _rest(self) -> None:
        """Closes the file if no statement follows soon."""

        def close() -> None:
            if self._threads.is_idle:
                self._file.close()

        if self._closing is not None:
            self._closing.cancel()
        self._closing = asyncio.get_running_loop().call_later(_LINGER_S, close)
