"""The read-only connection to one SQLite file.

Four restrictions in addition to the guard: the file is opened ``mode=ro``, the connection is
``query_only`` and does not trust code in the schema, SQLite's limits are low, and an authorizer
checks every table and function of the statement (``authorizer.py``). A connection serves one
statement, so nothing is left for the next, and a replaced file is noticed. Statements run in
threads; time, rows, bytes and cells are limited here. SQLite shows no estimates, so plans are not
limited.

Limits: a single call of a function over very long texts (``instr`` of two megabytes) cannot be
interrupted. Its caller is answered in time, but its thread becomes free later. What a sort or a
materialised view needs is kept in memory, for which SQLite knows one limit of the whole process.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from execution.results.collector import ResultBuilder, tighten_limits
from execution.sqlite.authorizer import build_authorizer
from execution.sqlite.errors import MEMORY_DIAGNOSTIC, build_diagnostic, is_gone
from execution.statement_threads import StatementThreads
from nl2sql.errors import DatabaseUnavailable
from nl2sql.file_advice import advise_sqlite
from nl2sql.settings import LimitSettings
from nl2sql.sql.names import build_sqlite_uri
from nl2sql.types import Diagnostic, ExecutionLimits, Explained, GuardedQuery, ResultSet

SQLITE_VERSION = sqlite3.sqlite_version

_EXPLAIN = "EXPLAIN QUERY PLAN "
_MOST_STEPS = 10_000
# How long a statement waits for a writer of the file.
_BUSY_TIMEOUT_S = 2
# A probe answers before its caller's time limit.
_PROBE_TIMEOUT_MS = 2000
# Instructions of SQLite's virtual machine between two checks of the time: some milliseconds.
_INSTRUCTIONS_PER_LOOK = 50_000

_PRAGMAS = (
    "query_only = ON",
    "trusted_schema = OFF",
    "cell_size_check = ON",
    "temp_store = MEMORY",
)

_LONGEST_VALUE = 1_000_000
# The advice for untrusted SQL (sqlite.org/security.html), with larger values where queries need it.
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _LONGEST_VALUE,
    # Applies to the schema's statements too: a table with very many columns must not fail.
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: _LONGEST_VALUE,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 100_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 500,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 1000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_STORAGE_CLASSES: dict[type, str] = {int: "integer", float: "real", str: "text", bytes: "blob"}


class _SqliteStatement:
    """One statement that runs in a thread and can be stopped from another."""

    def __init__(
        self,
        path: Path,
        sql: str,
        query: GuardedQuery,
        most_rows: int,
        limits: LimitSettings,
    ) -> None:
        self.timeout_ms = limits.statement_timeout_ms
        self.sql = sql
        self.query = query
        self.most_rows = most_rows
        # True once rows may be read: from then on errors may quote them.
        self.running = False
        self._path = path
        self._limits = limits
        self._deadline = time.monotonic() + self.timeout_ms / 1000
        self._stopped = False
        self._connection: sqlite3.Connection | None = None

    def run(self) -> ResultBuilder | Diagnostic:
        """The rows, or the database's error. Raises DatabaseUnavailable."""
        try:
            uri = build_sqlite_uri(self._path)
            with closing(
                sqlite3.connect(uri, uri=True, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
            ) as connection:
                _restrict(connection, self._limits)
                return self.run_on(connection)
        except (sqlite3.Error, sqlite3.Warning) as error:
            if not is_gone(error):
                return build_diagnostic(
                    error, restricted=self.query.restricted, running=self.running
                )
            name = self.query.database
            raise DatabaseUnavailable(
                f"The database {name!r} cannot be read: {error}.",
                database=name,
                hint=advise_sqlite(self._path),
            ) from error
        except MemoryError:
            return MEMORY_DIAGNOSTIC

    def run_on(self, connection: sqlite3.Connection) -> ResultBuilder:
        """Runs the statement. Raises sqlite3.Error."""
        self._connection = connection
        # An interrupt before the statement has begun is lost; the flag is not.
        connection.set_progress_handler(self._must_stop, _INSTRUCTIONS_PER_LOOK)
        authorizer = build_authorizer(connection, self.query.tables, self.query.reads)
        connection.set_authorizer(authorizer)
        if not self.sql.startswith(_EXPLAIN):
            # Compiled once without being run: errors so far are errors of the query.
            columns = self._count_columns(connection)
            # A row of very many long values would fill the memory as one large value would.
            longest = min(_LONGEST_VALUE, self._limits.result_bytes // max(columns, 1))
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
            self.running = True
        cursor = connection.execute(self.sql, self.query.params)
        names = [name for name, *_ in cursor.description or ()]
        builder = ResultBuilder(names, self.most_rows, self._limits)
        for row in cursor:
            if not builder.add(row):
                break
        return builder

    def _count_columns(self, connection: sqlite3.Connection) -> int:
        """The number of columns of a row, from the program that SQLite compiles."""
        program = connection.execute(f"EXPLAIN {self.sql}", self.query.params)
        return max((width for _, code, _, width, *_ in program if code == "ResultRow"), default=0)

    def stop(self) -> None:
        """Ends the statement as soon as SQLite looks; harmless when it has ended. Any thread."""
        self._stopped = True
        if self._connection is not None:
            try:
                self._connection.interrupt()
            except sqlite3.ProgrammingError:
                return  # it was closed: there is nothing to interrupt

    def _must_stop(self) -> bool:
        return self._stopped or time.monotonic() > self._deadline


class SqliteDatabase:
    """EXPLAIN QUERY PLAN and read-only execution, at most ``limits.pool_size`` at a time."""

    def __init__(self, name: str, path: Path, limits: LimitSettings) -> None:
        self.name = name
        self._path = path
        self._limits = limits
        self._threads = StatementThreads(name, limits.pool_size)

    async def explain(self, query: GuardedQuery) -> Explained | Diagnostic:
        """The plan's cost, or the error. Raises DatabaseUnavailable.

        SQLite shows no estimates: ``cost`` is the number of steps that read a whole table or index
        (SCAN), ``rows`` is 0.
        """

        def build() -> _SqliteStatement:
            sql, within = _EXPLAIN + query.sql, tighten_limits(self._limits)
            return _SqliteStatement(self._path, sql, query, _MOST_STEPS, within)

        plan = await self._threads.run(build, who=query.principal)
        if isinstance(plan, Diagnostic):
            return plan
        steps = [str(detail) for *_, detail in plan.rows]
        scans = [step for step in steps if step.startswith("SCAN ") and "CONSTANT" not in step]
        return Explained(cost=float(len(scans)), rows=0.0)

    async def execute(
        self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
    ) -> ResultSet | Diagnostic:
        """At most ``max_rows`` rows, or the database's error. Raises DatabaseUnavailable.

        One row more is fetched, to tell whether there were more. A column's type is the storage
        class of its first value that is not NULL, since columns in SQLite have no fixed type.
        """
        start = time.perf_counter()

        def build() -> _SqliteStatement:
            nonlocal start
            start = time.perf_counter()
            within = tighten_limits(self._limits, limits)
            return _SqliteStatement(self._path, query.sql, query, max_rows, within)

        page = await self._threads.run(build, who=query.principal, limits=limits)
        if isinstance(page, Diagnostic):
            return page
        types = [_find_type(page.rows, column) for column in range(len(page.columns))]
        return page.build(types, (time.perf_counter() - start) * 1000)

    async def probe(self) -> str:
        """What is wrong with this database; empty if nothing is."""
        query = GuardedQuery(self.name, "SELECT 1", (), dialect="sqlite")

        def build() -> _SqliteStatement:
            shorter = ExecutionLimits(_PROBE_TIMEOUT_MS, self._limits.result_bytes)
            within = tighten_limits(self._limits, shorter)
            return _SqliteStatement(self._path, query.sql, query, 1, within)

        return await self._threads.probe(build)

    async def close(self) -> None:
        """Stops running statements and ends the threads; a later call starts new ones."""
        await self._threads.close()


def _restrict(connection: sqlite3.Connection, limits: LimitSettings) -> None:
    """Applies all restrictions except the statement's authorizer. Raises sqlite3.Error."""
    for pragma in (*_PRAGMAS, f"hard_heap_limit = {limits.file_memory_mib * 2**20}"):
        connection.execute(f"PRAGMA {pragma}")
    for category, limit in _LIMITS.items():
        connection.setlimit(category, limit)
    # SQLite stores any bytes as text.
    connection.text_factory = lambda text: text.decode(errors="replace")


def _find_type(rows: Sequence[tuple[object, ...]], column: int) -> str:
    values = (row[column] for row in rows)
    first = next((value for value in values if value is not None), None)
    return _STORAGE_CLASSES.get(type(first), "")
