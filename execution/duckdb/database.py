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
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Generic, TypeVar

import duckdb

from execution.allowlists import Allowlist, load_allowlist
from execution.duckdb.errors import is_gone
from execution.duckdb.file import MOST_THREADS, OpenFile, SharedFile, refuse_file
from execution.duckdb.page import build_description, build_page
from execution.duckdb.statement import Session, check_query
from execution.results.collector import PageQuery, ResultBuilder, tighten_limits
from execution.statement_threads import StatementThreads
from nl2sql.duckdb_files import describe_duckdb_error
from nl2sql.settings import LimitSettings
from nl2sql.types import (
    QUERY_CANCELED,
    Diagnostic,
    ExecutionLimits,
    Explained,
    GuardedQuery,
    ResultSet,
)

# A probe answers before its caller's time limit.
_PROBE_TIMEOUT_MS = 2000
# How long the file stays open for the next statement; opening it takes some 50 ms.
_LINGER_S = 2

Answer = TypeVar("Answer")
Work = Callable[[Session, LimitSettings], Answer | Diagnostic]


class _DuckdbStatement(Generic[Answer]):
    """A guarded query that runs in a thread and can be stopped from another."""

    def __init__(
        self,
        file: SharedFile,
        query: GuardedQuery,
        allowlist: Allowlist,
        work: Work[Answer],
        limits: LimitSettings,
    ) -> None:
        self.timeout_ms = limits.statement_timeout_ms
        self._limits = limits
        self._file = file
        self._query = query
        self._allowlist = allowlist
        self._work = work
        self._lock = threading.Lock()
        self._stopped = False
        self._connection: duckdb.DuckDBPyConnection | None = None

    def run(self) -> Answer | Diagnostic:
        """The answer, or the database's error. Raises DatabaseUnavailable."""
        with self._file.use() as file:
            try:
                with file.connect() as connection:
                    return self._run_on(connection, file)
            except duckdb.Error as error:
                self._file.drop(file)
                reason = describe_duckdb_error(error)
                raise refuse_file(self._query.database, self._file.path, reason) from error

    def stop(self) -> None:
        """Interrupts the statement; harmless before it has begun and after it has ended."""
        with self._lock:
            self._stopped = True
            if self._connection is not None:
                self._connection.interrupt()

    def _run_on(self, connection: duckdb.DuckDBPyConnection, file: OpenFile) -> Answer | Diagnostic:
        """Runs the query. Raises duckdb.Error if the file is at fault."""
        with self._lock:
            if self._stopped:
                return Diagnostic(QUERY_CANCELED, "The statement was stopped.")
            self._connection = connection
        session = Session(connection, file, self._query)
        try:
            refusal = check_query(connection, self._query, file, self._allowlist)
            return refusal or self._work(session, self._limits)
        except duckdb.Error as error:
            if is_gone(error):
                raise
            return session.explain_error(error)
        finally:
            with self._lock:
                self._connection = None


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

        def work(session: Session, _: LimitSettings) -> Explained | Diagnostic:
            return session.plan(PageQuery(query.sql), self._limits.max_estimated_rows)

        return await self._threads.run(partial(self._build, query, work), who=query.principal)

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        """At most ``max_rows`` rows, or the database's error. Raises DatabaseUnavailable.

        One row more is fetched, to tell whether there were more. A query whose plan expects too
        many rows does not run; the error has SQLSTATE 54001.
        """

        def work(session: Session, within: LimitSettings) -> ResultSet | Diagnostic:
            start = time.perf_counter()
            columns = session.describe(build_description(query.sql))
            types = [kind for _, kind in columns]
            page = build_page(query.sql, types, max_rows + 1, within)
            explained = session.plan(page, self._limits.max_estimated_rows)
            if isinstance(explained, Diagnostic):
                return explained
            names = [name for name, _ in columns]
            builder = ResultBuilder(names, max_rows, within, page.readers)
            cursor = session.execute(page)
            while rows := cursor.fetchmany(page.rows_a_chunk):
                if not all(map(builder.add, rows)):
                    break
            return builder.build(types, (time.perf_counter() - start) * 1000)

        build = partial(self._build, query, work, limits)
        return await self._threads.run(build, who=query.principal, limits=limits)

    async def probe(self) -> str:
        """What is wrong with this database; empty if nothing is."""
        query = GuardedQuery(self.name, "SELECT 1", (), dialect="duckdb")

        shorter = ExecutionLimits(_PROBE_TIMEOUT_MS, self._limits.result_bytes)

        def work(session: Session, _: LimitSettings) -> bool:
            return bool(session.execute(PageQuery(query.sql)).fetchall())

        return await self._threads.probe(partial(self._build, query, work, shorter))

    async def close(self) -> None:
        """Stops running statements and closes the file; a later call opens it again."""
        await self._threads.close()
        await asyncio.to_thread(self._file.close)

    def _build(
        self, query: GuardedQuery, work: Work[Answer], tighter: ExecutionLimits | None = None
    ) -> _DuckdbStatement[Answer]:
        limits = tighten_limits(self._limits, tighter)
        return _DuckdbStatement(self._file, query, self._allowlist, work, limits)

    def _rest(self) -> None:
        """Closes the file if no statement follows soon."""

        def close() -> None:
            if self._threads.is_idle:
                self._file.close()

        if self._closing is not None:
            self._closing.cancel()
        self._closing = asyncio.get_running_loop().call_later(_LINGER_S, close)
