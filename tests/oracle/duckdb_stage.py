"""Where DuckDB queries are judged: a file, and copies of it for each principal.

How the copies are made stands in ``duckdb_copies.py``.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

from execution.duckdb.errors import SQLSTATES
from nl2sql.types import Principal
from tests.oracle.duckdb_copies import FORMS, build_duckdb_copy, quote
from tests.oracle.fuzz import Target
from tests.oracle.grants import list_grants
from tests.oracle.outcomes import UNNAMED, Outcome
from tests.oracle.stage import Subject, build_guarding, build_rereading
from tests.oracle.verdicts import Judge

_MOST_ROWS = 20_000
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # As the product has it: what is known of all rows makes no plan.
    "disabled_optimizers": "statistics_propagation",
    "threads": "1",
    "memory_limit": "512MiB",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}


class DuckDbSession:
    """A connection to one file; a statement that takes too long is interrupted."""

    def __init__(self, path: Path, *, timeout_s: float, writable: bool = False) -> None:
        self._timeout_s = timeout_s
        self._connection = duckdb.connect(path, read_only=not writable, config=_CONFIG)

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """The rows of a query, at most a page of them, or DuckDB's error."""
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._connection.interrupt()

        timer = threading.Timer(self._timeout_s, stop)
        timer.start()
        values = [list(each) if isinstance(each, tuple) else each for each in params]
        try:
            statement.encode()
            cursor = self._connection.execute(statement, values or None)
            rows = cursor.fetchmany(_MOST_ROWS + 1)
            columns = tuple(_settle_name(name) for name, *_ in cursor.description or ())
        except UnicodeEncodeError as error:
            return Outcome(sqlstate="22021", message=str(error))
        except (duckdb.Error, RuntimeError) as error:
            state = "57014" if late.is_set() else _find_state(error)
            return Outcome(sqlstate=state, message=str(error))
        finally:
            timer.cancel()
        return Outcome(columns, tuple(rows[:_MOST_ROWS]), complete=len(rows) <= _MOST_ROWS)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()


class DuckDbCopy:
    """A principal's own file, in several forms that hold the same rows."""

    def __init__(self, paths: Sequence[Path], *, timeout_s: float) -> None:
        self._sessions = [DuckDbSession(path, timeout_s=timeout_s) for path in paths]

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """What the query answers there."""
        return self._sessions[0].run(statement, params)

    def run_otherwise(self, statement: str, params: Sequence[object] = ()) -> Iterator[Outcome]:
        """The same on the other forms."""
        for session in self._sessions[1:]:
            yield session.run(statement, params)

    def close(self) -> None:
        """Ends all connections."""
        for session in self._sessions:
            session.close()


class DuckDbStage:
    """One file and copies of it in ``folder``. ``close`` ends all connections; the files stay."""

    def __init__(
        self, path: Path, subject: Subject, folder: Path, *, timeout_s: float = 2.0
    ) -> None:
        self.subject = subject
        self._path = path
        self._folder = folder
        self._timeout_s = timeout_s
        self._full: DuckDbSession | None = None
        self._wholes: dict[Path, DuckDbSession] = {}
        self._copies: list[DuckDbCopy] = []

    def build_target(self, principal: Principal) -> Target:
        """For fuzzing: what passes runs on a copy of the whole file that may be written.

        Raises PolicyError, duckdb.Error.
        """
        parts = (self.subject.policy, self.subject.catalog, principal)
        whole = self._folder / f"{self.subject.name}_{principal.name}_whole.duckdb"
        shutil.copyfile(self._path, whole)
        session = self._wholes[whole] = DuckDbSession(
            whole, timeout_s=self._timeout_s, writable=True
        )
        copy = self.build_copy(principal)
        return Target(
            principal.name, build_guarding(*parts), session, copy, build_rereading(*parts)
        )

    def judge(self, principal: Principal) -> Judge:
        """The judge of that principal's queries. Raises PolicyError, duckdb.Error."""
        if self._full is None:
            self._full = DuckDbSession(self._path, timeout_s=self._timeout_s)
        guard = build_guarding(self.subject.policy, self.subject.catalog, principal)
        return Judge(guard, self._full, self.build_copy(principal))

    def build_copy(self, principal: Principal) -> DuckDbCopy:
        """The principal's own file, in all forms. Raises duckdb.Error."""
        roles = list_grants(self.subject.policy, principal, self.subject.catalog.tables, "duckdb")
        paths = []
        for form in FORMS:
            paths.append(self._folder / f"{self.subject.name}_{principal.name}_{form}.duckdb")
            build_duckdb_copy(self._path, paths[-1], self.subject.catalog, roles, form=form)
        self._copies.append(DuckDbCopy(paths, timeout_s=self._timeout_s))
        return self._copies[-1]

    def describe(self) -> dict[str, str]:
        """All that is in the files that may be written, and their settings."""
        found = {}
        for path, session in self._wholes.items():
            tables = session.run("SELECT schema_name, table_name FROM duckdb_tables() ORDER BY ALL")
            texts = [str(tables.rows)]
            for schema, name in tables.rows:
                rows = session.run(f"SELECT * FROM {quote(f'{schema}.{name}')} ORDER BY ALL").rows
                texts.append(str(rows))
            texts.append(str(session.run("SELECT name, value FROM duckdb_settings()").rows))
            texts.append(str(session.run("SELECT last_value FROM duckdb_sequences()").rows))
            found[path.name] = "\n".join(texts)
        return found

    def close(self) -> None:
        """Ends all connections."""
        if self._full:
            self._full.close()
        for session in self._wholes.values():
            session.close()
        for copy in self._copies:
            copy.close()


def _find_state(error: Exception) -> str:
    return next((SQLSTATES[each] for each in type(error).__mro__ if each in SQLSTATES), "?")


def _settle_name(name: str) -> str:
    """A column's name; of one without a name of its own DuckDB gives the text, which may differ."""
    return name if name.isidentifier() else UNNAMED
