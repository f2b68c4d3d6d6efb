"""Where attacks run without the guard: a scratch database that each attack finds as it was.

PostgreSQL runs under its superuser, SQLite and DuckDB on a file that may be written: nothing but
the guard and the databases of ``execution/`` stands between a query and its effect in the product,
so nothing does here.
"""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import duckdb
import psycopg
from psycopg.pq import TransactionStatus

from execution.postgres.embedded import SUPERUSER, EmbeddedServer, grant_reader
from tests.attacks.attack import FIXTURES, FOLDER, QUERY_CANCELED, Attack, Outcome, Row

# PostgreSQL's databases: the one that others are copied from, the one for the guarded way, and the
# one that gets row-level security.
_TEMPLATE = "pristine"
_SCRATCH = "scratch"
UNTOUCHED = "untouched"
SECURED = "secured"

# What these leave in a session no rollback takes back: locks, settings, prepared statements.
_SESSION_GROUPS = ("statements", "functions")

# After this long a statement counts as endless; where another outcome is awaited, it is given time.
_ENDLESS_MS = 150
_PATIENCE_MS = 20_000


class Arena(Protocol):
    """One engine."""

    def run(self, attack: Attack) -> Outcome: ...

    def close(self) -> None: ...


class PostgresArena:
    """A database of the embedded server, made anew after whatever a rollback does not undo.

    Statements go by the simple protocol, which takes several at once.
    """

    def __init__(self, server: EmbeddedServer, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self._is_fresh = False
        self._kept: psycopg.Connection[Any] | None = None
        with psycopg.connect(server.url("postgres", SUPERUSER), autocommit=True) as admin:
            # Nothing here outlives the tests, and copies of databases are much of their time.
            admin.execute("ALTER SYSTEM SET fsync = off")
            admin.execute("SELECT pg_reload_conf()")
        server.create_database(_TEMPLATE)
        with psycopg.connect(server.url(_TEMPLATE, SUPERUSER)) as connection:
            connection.execute("CREATE SCHEMA main; SET search_path = main")
            connection.execute(_read_scripts("scratch", "scratch_postgres").encode())
            grant_reader(connection)
            connection.execute("ANALYZE")
        self._copy(UNTOUCHED)
        self._copy(SECURED)

    def run(self, attack: Attack) -> Outcome:
        keeps_session = attack.in_transaction and attack.group not in _SESSION_GROUPS
        if not self._is_fresh or not keeps_session:
            self.close()
        if not self._is_fresh:
            self._copy(_SCRATCH)
            self._is_fresh = True
        if self._kept is None:
            url = self._server.url(_SCRATCH, SUPERUSER)
            self._kept = psycopg.connect(url, options="-c search_path=main")
        connection = self._kept
        connection.autocommit = not attack.in_transaction
        scope = "LOCAL" if attack.in_transaction else "SESSION"
        connection.execute(f"SET {scope} statement_timeout = {_limit(attack)}".encode())
        outcome = _observe(attack, self._folder, lambda sql: self._fetch(connection, sql))
        if keeps_session and self._is_fresh:
            connection.rollback()
        else:
            self.close()
        return outcome

    def close(self) -> None:
        """Closes the connection that queries share."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def _copy(self, name: str) -> None:
        """Copies the template, which nobody may be connected to."""
        with psycopg.connect(self._server.url("postgres", SUPERUSER), autocommit=True) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)".encode())
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE}".encode())

    def _fetch(self, connection: psycopg.Connection[Any], sql: str) -> list[Row]:
        rows: list[Row] = []
        connection.add_notify_handler(lambda note: rows.append((note.channel, note.payload)))
        try:
            cursor = connection.execute(sql.encode())
            while True:
                if cursor.description:
                    rows += cursor.fetchall()
                if not cursor.nextset():
                    return rows
        finally:
            # Whatever is no longer inside the transaction is there to stay.
            status = connection.info.transaction_status
            inside = (
                TransactionStatus.INTRANS,
                TransactionStatus.INERROR,
                TransactionStatus.UNKNOWN,
            )
            self._is_fresh = self._is_fresh and status in inside


class SqliteArena:
    """A file, copied for each attack; several statements run one after the other."""

    def __init__(self, folder: Path) -> None:
        self.pristine = folder / "pristine.sqlite"
        self._scratch = folder / "scratch.sqlite"
        self._folder = folder
        with closing(sqlite3.connect(self.pristine)) as connection:
            connection.executescript(_read_scripts("scratch", "scratch_files"))

    def close(self) -> None:
        """Nothing is open between attacks."""

    def run(self, attack: Attack) -> Outcome:
        shutil.copy(self.pristine, self._scratch)
        with closing(sqlite3.connect(self._scratch, isolation_level=None)) as connection:
            # The command-line shell has this function; Python's build does not.
            connection.create_function("readfile", 1, lambda path: Path(path).read_bytes())
            deadline = time.monotonic() + _limit(attack) / 1000
            connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)

            def fetch(sql: str) -> list[Row]:
                try:
                    return connection.execute(sql).fetchall()
                except sqlite3.ProgrammingError as error:
                    if "one statement at a time" not in str(error):
                        raise
                    connection.executescript(sql)
                    return []

            return _observe(attack, self._folder, fetch)


class DuckDbArena:
    """A file; whatever does not run in a transaction gets a copy of its own."""

    def __init__(self, folder: Path) -> None:
        self.pristine = folder / "pristine.duckdb"
        self._scratch = folder / "scratch.duckdb"
        self._folder = folder
        self._kept: duckdb.DuckDBPyConnection | None = None
        with closing(duckdb.connect(str(self.pristine))) as connection:
            connection.execute(_read_scripts("scratch", "scratch_files"))
            connection.execute("CREATE SEQUENCE order_number START 4711")

    def run(self, attack: Attack) -> Outcome:
        if not attack.in_transaction:
            self.close()
        if self._kept is None:
            shutil.copy(self.pristine, self._scratch)
            self._kept = duckdb.connect(str(self._scratch), config={"threads": "1"})
        connection = self._kept

        def fetch(sql: str) -> list[Row]:
            answer = connection.execute(sql)
            return answer.fetchall() if answer.description else []

        timer = threading.Timer(_limit(attack) / 1000, connection.interrupt)
        try:
            if attack.in_transaction:
                connection.execute("BEGIN")
            timer.start()
            return _observe(attack, self._folder, fetch)
        finally:
            timer.cancel()
            if attack.in_transaction:
                connection.execute("ROLLBACK")
            else:
                self.close()

    def close(self) -> None:
        """Closes the database that queries share."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None


def _observe(attack: Attack, folder: Path, fetch: Callable[[str], list[Row]]) -> Outcome:
    rows: list[Row] = []
    error = ""
    start = time.perf_counter()
    try:
        rows = fetch(attack.sql.replace(FOLDER, str(folder)))
    except (psycopg.Error, sqlite3.Error, duckdb.Error) as problem:
        error = f"{_name_error(problem)} {problem}"
    ms = (time.perf_counter() - start) * 1000
    probed = fetch(attack.works.probe) if attack.works.probe and not error else []
    return Outcome(tuple(rows), error, tuple(probed), ms, folder)


def _name_error(error: Exception) -> str:
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    if state == QUERY_CANCELED or any(word in str(error) for word in ("interrupted", "INTERRUPT")):
        return "timeout"
    return state or type(error).__name__


def _limit(attack: Attack) -> int:
    return _ENDLESS_MS if attack.works.kind == "endless" else _PATIENCE_MS


def _read_scripts(*names: str) -> str:
    scripts = ((FIXTURES / f"{name}.sql").read_text(encoding="utf-8") for name in names)
    return "\n".join(scripts)
