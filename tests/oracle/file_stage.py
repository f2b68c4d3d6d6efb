"""Where queries on SQLite and DuckDB are judged: a file, and copies of it for each principal.

Each principal has a copy for each form of ``file_copies.py``, and SQLite's are read in three ways,
so that a query whose result depends on how rows lie or are found shows it. Connections run plain
and guarded SQL alike.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import duckdb

from execution.duckdb.errors import SQLSTATES
from execution.sqlite.errors import build_diagnostic
from nl2sql.sql.names import build_sqlite_uri
from nl2sql.types import Principal
from tests.oracle.file_copies import FORMS, build_file_copy, copy_file, quote
from tests.oracle.fuzz import Target
from tests.oracle.grants import list_grants
from tests.oracle.outcomes import Outcome, bind_values
from tests.oracle.stage import Stage, Subject

_MOST_ROWS = 20_000
_TIMEOUT_S = 2.0
_INSTRUCTIONS_PER_LOOK = 20_000
_DUCKDB_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # As the product has it: what is known of all rows makes no plan.
    "disabled_optimizers": "statistics_propagation",
    "threads": "1",
    "memory_limit": "512MiB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}


class SqliteSession:
    """A connection to one file, with pragmas that change how a query is carried out."""

    def __init__(self, path: Path, *, pragmas: Sequence[str] = (), writable: bool = False) -> None:
        self._path = path
        self._deadline = 0.0
        target = str(path) if writable else build_sqlite_uri(path)
        self._connection = sqlite3.connect(target, uri=not writable, isolation_level=None)
        self._connection.text_factory = lambda text: text.decode(errors="replace")
        self._connection.set_progress_handler(self._is_late, _INSTRUCTIONS_PER_LOOK)
        for pragma in pragmas:
            self._connection.execute(f"PRAGMA {pragma}")

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """The rows of a query, at most a page of them, or SQLite's error."""
        self._deadline = time.monotonic() + _TIMEOUT_S
        try:
            cursor = self._connection.execute(statement, tuple(params))
            rows, described = cursor.fetchmany(_MOST_ROWS + 1), cursor.description
            cursor.close()
        except (sqlite3.Error, sqlite3.Warning) as error:
            state = build_diagnostic(error).sqlstate or "?"
            return Outcome(sqlstate=state, message=str(error))
        except UnicodeEncodeError as error:
            return Outcome(sqlstate="22021", message=str(error))
        return _build_outcome(described, rows)

    def describe(self) -> str:
        """A checksum of all that the file holds."""
        with closing(sqlite3.connect(build_sqlite_uri(self._path), uri=True)) as connection:
            return hashlib.sha256("\n".join(connection.iterdump()).encode()).hexdigest()

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline


class DuckDbSession:
    """A connection to one file; a statement that takes too long is interrupted."""

    def __init__(self, path: Path, *, writable: bool = False) -> None:
        self._connection = duckdb.connect(path, read_only=not writable, config=_DUCKDB_CONFIG)

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """The rows of a query, at most a page of them, or DuckDB's error."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._connection.interrupt()

        timer = threading.Timer(_TIMEOUT_S, stop)
        timer.start()
        values = bind_values(params)
        try:
            statement.encode()
            cursor = self._connection.execute(statement, values or None)
            rows = cursor.fetchmany(_MOST_ROWS + 1)
            # The guard names outputs that have no name, so the columns' types take their place.
            described = [(kind,) for _, kind, *_ in cursor.description or ()]
        except UnicodeEncodeError as error:
            return Outcome(sqlstate="22021", message=str(error))
        except (duckdb.Error, RuntimeError) as error:
            kinds = [kind for kind in type(error).__mro__ if kind in SQLSTATES]
            state = SQLSTATES[kinds[0]] if kinds else "?"
            return Outcome(sqlstate="57014" if late.is_set() else state, message=str(error))
        finally:
            timer.cancel()
        return _build_outcome(described, rows)

    def describe(self) -> str:
        """All that the file holds, and the settings of the connection."""
        tables = self.run("SELECT schema_name, table_name FROM duckdb_tables() ORDER BY ALL")
        names = [f"{schema}.{name}" for schema, name in tables.rows]
        queries = (
            *(f"SELECT * FROM {quote(name)} ORDER BY ALL" for name in names),
            "SELECT name, value FROM duckdb_settings()",
            "SELECT last_value FROM duckdb_sequences()",
        )
        return "\n".join([str(tables.rows), *(str(self.run(query).rows) for query in queries)])

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


FileSession = SqliteSession | DuckDbSession


def open_session(dialect: str, path: Path, *, writable: bool = False) -> FileSession:
    """A connection to a file of that dialect. Raises sqlite3.Error, duckdb.Error."""
    kind = SqliteSession if dialect == "sqlite" else DuckDbSession
    return kind(path, writable=writable)


def _build_outcome(
    described: Sequence[Sequence[object]] | None, rows: Sequence[tuple[object, ...]]
) -> Outcome:
    columns = tuple(str(name) for name, *_ in described or ())
    return Outcome(columns, tuple(rows[:_MOST_ROWS]), complete=len(rows) <= _MOST_ROWS)


# Backwards, and without the indexes that SQLite makes up.
_PRAGMAS = (("reverse_unordered_selects = ON",), ("automatic_index = OFF",))


class FileCopy:
    """A principal's own file, in several forms that hold the same rows."""

    def __init__(self, sessions: Sequence[FileSession]) -> None:
        self._sessions = sessions

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """What the query answers there."""
        return self._sessions[0].run(statement, params)

    def run_otherwise(self, statement: str, params: Sequence[object] = ()) -> Iterator[Outcome]:
        """The same read in other ways, and on the other forms."""
        for session in self._sessions[1:]:
            yield session.run(statement, params)

    def close(self) -> None:
        """Ends all connections."""
        for session in self._sessions:
            session.close()


class FileStage(Stage):
    """One file and copies of it in ``folder``; its catalog tells the dialect."""

    full: FileSession

    def __init__(self, path: Path, subject: Subject, folder: Path) -> None:
        """Raises sqlite3.Error, duckdb.Error."""
        self.subject = subject
        self._dialect = subject.catalog.dialect
        self._path = path
        self._folder = folder
        self.full = open_session(self._dialect, path)
        self._copies: list[FileCopy] = []
        self._wholes: dict[str, FileSession] = {}

    def build_target(self, principal: Principal) -> Target:
        """For fuzzing: what passes runs on a copy of the whole file that may be written.

        Raises PolicyError, sqlite3.Error, duckdb.Error.
        """
        path = self._name_file(principal, "whole")
        copy_file(self._path, path)
        session = self._wholes[path.name] = open_session(self._dialect, path, writable=True)
        guard, copy = self.guard(principal), self.copy(principal)
        return Target(principal.name, guard, session, copy, self.reread(principal))

    def describe(self) -> dict[str, str]:
        """What is in the files that may be written."""
        return {name: session.describe() for name, session in self._wholes.items()}

    def copy(self, principal: Principal) -> FileCopy:
        """The principal's own file in all its forms. Raises sqlite3.Error, duckdb.Error."""
        catalog = self.subject.catalog
        roles = list_grants(
            self.subject.policy,
            principal,
            catalog.tables,
            self._dialect,
            generated=self.subject.generated,
        )
        sessions = []
        for form in FORMS[self._dialect]:
            path = self._name_file(principal, form)
            build_file_copy(self._path, path, catalog, roles, form=form)
            sessions.append(open_session(self._dialect, path))
            if self._dialect == "sqlite":
                sessions += [SqliteSession(path, pragmas=pragmas) for pragmas in _PRAGMAS]
        self._copies.append(FileCopy(sessions))
        return self._copies[-1]

    def close(self) -> None:
        """Ends all connections; the files stay."""
        for opened in (self.full, *self._wholes.values(), *self._copies):
            opened.close()

    def _name_file(self, principal: Principal, kind: str) -> Path:
        return self._folder / f"{self.subject.name}_{principal.name}_{kind}.{self._dialect}"
