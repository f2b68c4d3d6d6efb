"""An open DuckDB file, shared by the statements of all threads.

``nl2sql/duckdb_files.py`` opens it. ``statement.py`` refuses what remains possible then: reading
the attached file as text (``read_blob``), temporary tables, the system tables.

A reader's lock on the file lasts as long as the instance: no other process can write meanwhile.
Two instances on one file in one process are not supported: closing one releases the lock of both
(a rule of POSIX), so that a writer could write while the other still reads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import duckdb

from execution.duckdb.plan import EXPLAIN, list_scans, read_plan
from execution.duckdb.second_check import list_functions
from nl2sql.duckdb_files import (
    ATTACHED,
    CLOSED_CONFIG,
    build_duckdb_opening,
    describe_duckdb_error,
    extract_view_query,
)
from nl2sql.errors import DatabaseUnavailable
from nl2sql.file_advice import advise_duckdb
from nl2sql.settings import LimitSettings
from nl2sql.sql.names import enquote, fold_name

# More threads than this speed up a single query little, at the cost of all others.
MOST_THREADS = 4

_MACROS = "SELECT lower(function_name) FROM duckdb_functions() WHERE NOT internal"
_GENERATED = """
SELECT table_schema, table_name, column_name
FROM information_schema.columns WHERE is_generated = 'ALWAYS'
"""
_VIEWS = "SELECT schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal"

Identity = tuple[int, int, int, int]


@dataclass(eq=False)
class OpenFile:
    """An instance of DuckDB with the file attached.

    ``identity`` distinguishes a file from its replacement. ``macros`` are the functions, in lower
    case, that the file defines: they take precedence over DuckDB's functions of the same name.
    ``views`` are the file's views, qualified and folded, with their queries, ``brings`` the query
    that shows what a view or a generated column reads; ``users`` the statements that use the file.
    """

    instance: duckdb.DuckDBPyConnection
    identity: Identity
    macros: frozenset[str]
    views: Mapping[str, str]
    brings: Mapping[str, str]
    users: int = 0
    _brought: dict[str, frozenset[tuple[str, str]]] = field(default_factory=dict)

    @cached_property
    def view_functions(self) -> frozenset[str]:
        """The functions that some view calls; the query that replaces a view may call them too."""
        return frozenset[str]().union(*map(list_functions, self.views.values()))

    def find_brought(self, name: str) -> frozenset[tuple[str, str]]:
        """What a view or generated column reads by itself, see ``list_scans``; else nothing.

        Raises duckdb.Error.
        """
        if name in self.brings and name not in self._brought:
            with self.connect() as connection:
                row = connection.execute(EXPLAIN + self.brings[name]).fetchone()
            assert row is not None
            scans = list_scans(read_plan(str(row[1])))
            self._brought[name] = frozenset(scan for scan in scans if scan[0])
        return self._brought.get(name, frozenset())

    @contextmanager
    def connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A new connection for one statement, so that nothing is left for the next.

        Raises duckdb.Error.
        """
        with self.instance.cursor() as connection:
            connection.execute(f"USE {ATTACHED}")
            yield connection


class SharedFile:
    """The file for the statements of all threads: opened for the first, closed on demand."""

    def __init__(self, name: str, path: Path, limits: LimitSettings) -> None:
        self.path = path
        self._name = name
        self._limits = limits
        self._lock = threading.Lock()
        self._current: OpenFile | None = None

    @contextmanager
    def use(self) -> Iterator[OpenFile]:
        """The open file, which stays open inside the block. Raises DatabaseUnavailable.

        A file that was changed or replaced is opened again.
        """
        with self._lock:
            file = self._open()
            file.users += 1
        try:
            yield file
        finally:
            with self._lock:
                file.users -= 1
                if file is not self._current:
                    _close_unused(file)

    def drop(self, file: OpenFile) -> None:
        """Retires ``file``; it is closed when no statement uses it."""
        with self._lock:
            if file is self._current:
                self._current = None

    def close(self) -> None:
        """Closes the file, if no statement uses it."""
        with self._lock:
            if self._current is not None and _close_unused(self._current):
                self._current = None

    def _open(self) -> OpenFile:
        if self._current is not None and _identify(self._name, self.path) != self._current.identity:
            _close_unused(self._current)
            self._current = None
        if self._current is None:
            self._current = open_file(self._name, self.path, self._limits)
        return self._current


def _close_unused(file: OpenFile) -> bool:
    if not file.users:
        file.instance.close()
    return not file.users


def open_file(name: str, path: Path, limits: LimitSettings) -> OpenFile:
    """Opens the file at ``path`` as the database ``name``. Raises DatabaseUnavailable."""
    config: dict[str, str | bool | int | float | list[str]] = {
        **CLOSED_CONFIG,
        # The optimizer's statistics of a column (minimum and maximum) include hidden rows, and
        # would reveal them by the order of the visible ones.
        "disabled_optimizers": "statistics_propagation",
        "memory_limit": f"{limits.file_memory_mib}MiB",
        "threads": str(min(MOST_THREADS, len(os.sched_getaffinity(0)))),
        # In case an interrupt is lost.
        "max_execution_time": str(limits.statement_timeout_ms),
    }
    identity = _identify(name, path)
    try:
        instance = duckdb.connect(":memory:", config=config)
        try:
            for statement in build_duckdb_opening(path):
                instance.execute(statement)
            macros = frozenset(name for (name,) in instance.execute(_MACROS).fetchall())
            views, brings = {}, {}
            for schema, view, sql in instance.execute(_VIEWS).fetchall():
                name = fold_name(f"{schema}.{view}", "duckdb")
                views[name] = extract_view_query(sql)
                brings[name] = f"FROM {enquote(schema)}.{enquote(view)}"
            for schema, table, column in instance.execute(_GENERATED).fetchall():
                brings[fold_name(f"{schema}.{table}.{column}", "duckdb")] = (
                    f"SELECT {enquote(column)} FROM {enquote(schema)}.{enquote(table)}"
                )
        except BaseException:
            instance.close()
            raise
    except duckdb.Error as error:
        raise refuse_file(name, path, describe_duckdb_error(error)) from error
    return OpenFile(instance, identity, macros, views, brings)


def _identify(name: str, path: Path) -> Identity:
    """A value that changes when the file is changed or replaced."""
    try:
        found = path.stat()
    except OSError as error:
        raise refuse_file(name, path, str(error.strerror)) from error
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def refuse_file(name: str, path: Path, reason: str) -> DatabaseUnavailable:
    """The error for a file that cannot be read."""
    return DatabaseUnavailable(
        f"The database {name!r} cannot be read: {reason.rstrip('.!')}.",
        database=name,
        hint=advise_duckdb(path, reason),
    )
