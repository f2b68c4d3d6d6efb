"""Where queries on SQLite and DuckDB are judged: a file, and copies of it for each principal.

Each principal has a copy for each form of ``file_copies.py``, and SQLite's are read in three ways,
so that a query whose result depends on how rows lie or are found shows it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from nl2sql.types import Principal
from tests.oracle.file_copies import FORMS, build_file_copy, copy_file
from tests.oracle.file_sessions import FileSession, SqliteSession, open_session
from tests.oracle.fuzz import Target
from tests.oracle.grants import list_grants
from tests.oracle.outcomes import Outcome
from tests.oracle.stage import Subject, build_guarding, build_rereading
from tests.oracle.verdicts import Judge

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


class FileStage:
    """One file and copies of it in ``folder``; its catalog tells the dialect."""

    def __init__(self, path: Path, subject: Subject, folder: Path) -> None:
        """Raises sqlite3.Error, duckdb.Error."""
        self.subject = subject
        self._dialect = subject.catalog.dialect
        self._path = path
        self._folder = folder
        self._full = open_session(self._dialect, path)
        self._copies: list[FileCopy] = []
        self._wholes: dict[str, FileSession] = {}

    def judge(self, principal: Principal) -> Judge:
        """Makes the principal's copy. Raises PolicyError, sqlite3.Error, duckdb.Error."""
        parts = (self.subject.policy, self.subject.catalog, principal)
        copy = self.build_copy(principal)
        return Judge(build_guarding(*parts), self._full, copy, reread=build_rereading(*parts))

    def build_target(self, principal: Principal) -> Target:
        """For fuzzing: what passes runs on a copy of the whole file that may be written.

        Raises PolicyError, sqlite3.Error, duckdb.Error.
        """
        parts = (self.subject.policy, self.subject.catalog, principal)
        path = self._name_file(principal, "whole")
        copy_file(self._path, path)
        session = self._wholes[path.name] = open_session(self._dialect, path, writable=True)
        copy = self.build_copy(principal)
        return Target(
            principal.name, build_guarding(*parts), session, copy, build_rereading(*parts)
        )

    def describe(self) -> dict[str, str]:
        """What is in the files that may be written."""
        return {name: session.describe() for name, session in self._wholes.items()}

    def build_copy(self, principal: Principal) -> FileCopy:
        """The principal's own file in all its forms. Raises sqlite3.Error, duckdb.Error."""
        catalog = self.subject.catalog
        roles = list_grants(self.subject.policy, principal, catalog.tables, self._dialect)
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
        for opened in (self._full, *self._wholes.values(), *self._copies):
            opened.close()

    def _name_file(self, principal: Principal, kind: str) -> Path:
        return self._folder / f"{self.subject.name}_{principal.name}_{kind}.{self._dialect}"
