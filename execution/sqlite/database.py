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
from functools import partial
from pathlib import Path

from execution.results.collector import ResultBuilder, tighten_limits
from execution.sqlite.authorizer import build_authorizer
from execution.sqlite.errors import MEMORY_DIAGNOSTIC, build_diagnostic, is_gone
from execution.statement_threads import Statement, StatementThreads
from nl2sql.errors import DatabaseUnavailable
from nl2sql.file_advice import advise_sqlite
from nl2sql.settings import LimitSettings
from nl2sql.sql.names import build_sqlite_uri
from nl2sql.types import Diagnostic, ExecutionLimits, Explained, GuardedQuery, ResultSet

SQLITE_VERSION = sqlite3.sqlite_version

_MOST_STEPS = 10_000
# How long a statement waits for a writer of the file.
_BUSY_TIMEOUT_S = 2
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


class _SqliteStatement(Statement[ResultSet]):
    """A guarded query, or with ``is_explained`` its plan."""

    def __init__(
        self,
        path: Path,
        query: GuardedQuery,
        most_rows: int,
        limits: LimitSettings,
        *,
        is_explained: bool,
    ) -> None:
        super().__init__(query, limits)
        self._path = path
        self._most_rows = most_rows
        self._is_explained = is_explained
        # True once rows may be read: from then on errors may quote them.
        self._running = False
        self._start = time.monotonic()

    def run(self) -> ResultSet | Diagnostic:
        """The rows, or the database's error. Raises DatabaseUnavailable."""
        try:
            uri = build_sqlite_uri(self._path)
            with closing(
                sqlite3.connect(uri, uri=True, timeout=_BUSY_TIMEOUT_S, isolation_level=None)
            ) as connection:
                _restrict(connection, self.limits)
                with self.stoppable(connection.interrupt):
                    return self._run_on(connection)
        except (sqlite3.Error, sqlite3.Warning) as error:
            if not is_gone(error):
                return build_diagnostic(
                    error, restricted=self.query.restricted, running=self._running
                )
            name = self.query.database
            raise DatabaseUnavailable(
                f"The database {name!r} cannot be read: {error}.",
                database=name,
                hint=advise_sqlite(self._path),
            ) from error
        except MemoryError:
            return MEMORY_DIAGNOSTIC

    def _run_on(self, connection: sqlite3.Connection) -> ResultSet:
        """Runs the statement. Raises sqlite3.Error."""
        # In case an interrupt is lost.
        connection.set_progress_handler(self._is_late, _INSTRUCTIONS_PER_LOOK)
        authorizer = build_authorizer(connection, self.query.tables, self.query.reads)
        connection.set_authorizer(authorizer)
        sql = self.query.sql
        if self._is_explained:
            sql = f"EXPLAIN QUERY PLAN {sql}"
        else:
            # Compiled once without being run: errors so far are errors of the query.
            columns = self._count_columns(connection)
            # A row of very many long values would fill the memory as one large value would.
            longest = min(_LONGEST_VALUE, self.limits.result_bytes // max(columns, 1))
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
            self._running = True
        cursor = connection.execute(sql, self.query.params)
        names = [name for name, *_ in cursor.description or ()]
        builder = ResultBuilder(names, self._most_rows, self.limits)
        for row in cursor:
            if not builder.add(row):
                break
        types = [_find_type(builder.rows, column) for column in range(len(names))]
        return builder.build(types, (time.monotonic() - self._start) * 1000)

    def _count_columns(self, connection: sqlite3.Connection) -> int:
        """The number of columns of a row, from the program that SQLite compiles."""
        program = connection.execute(f"EXPLAIN {self.query.sql}", self.query.params)
        return max((width for _, code, _, width, *_ in program if code == "ResultRow"), default=0)

    def _is_late(self) -> bool:
        return time.monotonic() > self._start + self.limits.statement_timeout_ms / 1000


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
        build = partial(self._build, query, most_rows=_MOST_STEPS, is_explained=True)
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
        build = partial(self._build, query, limits, most_rows=max_rows)
        return await self._threads.run(build, who=query.principal, limits=limits)

    async def probe(self) -> str:
        """What is wrong with this database; empty if nothing is."""
        return await self._threads.probe(partial(self._build, most_rows=1))

    async def close(self) -> None:
        """Stops running statements and ends the threads; a later call starts new ones."""
        await self._threads.close()

    def _build(
        self,
        query: GuardedQuery,
        tighter: ExecutionLimits | None = None,
        *,
        most_rows: int,
        is_explained: bool = False,
    ) -> _SqliteStatement:
        within = tighten_limits(self._limits, tighter)
        return _SqliteStatement(self._path, query, most_rows, within, is_explained=is_explained)


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
