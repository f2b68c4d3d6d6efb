"""Where SQLite queries are judged: a file, and a copy of it for each principal.

As ``postgres_copies.py`` does it for PostgreSQL, and without the guard's code: what a role sees is
put into temporary tables, parents first, and the copy's tables are made anew from them, with types
but without constraints. Each principal has three copies, each read in three ways, so that a query
whose result hangs on how rows lie or are found shows it. Hashes, and views with rows of their own,
are not covered.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from execution.sqlite.errors import build_diagnostic
from nl2sql.catalog import Catalog
from nl2sql.sql.names import build_sqlite_uri
from nl2sql.types import Principal
from tests.oracle.fuzz import Target
from tests.oracle.grants import Grant, Grants, list_grants
from tests.oracle.outcomes import UNNAMED, Outcome
from tests.oracle.stage import Subject, build_guarding, build_rereading
from tests.oracle.verdicts import Judge

FORMS = ("plain", "backwards", "indexed")
"""How a copy's rows lie: as they did, the other way round, or with an index on each column."""

_PRAGMAS = ((), ("reverse_unordered_selects = ON",), ("automatic_index = OFF",))
_MOST_ROWS = 20_000
_INSTRUCTIONS_PER_LOOK = 20_000


class SqliteSession:
    """A connection to one file, with pragmas that change how a query is carried out."""

    def __init__(
        self,
        path: Path,
        *,
        timeout_s: float,
        pragmas: Sequence[str] = (),
        writable: bool = False,
    ) -> None:
        self._timeout_s = timeout_s
        self._deadline = 0.0
        target = str(path) if writable else build_sqlite_uri(path)
        self._connection = sqlite3.connect(target, uri=not writable, isolation_level=None)
        self._connection.text_factory = lambda text: text.decode(errors="ignore")
        self._connection.set_progress_handler(self._is_late, _INSTRUCTIONS_PER_LOOK)
        for pragma in pragmas:
            self._connection.execute(f"PRAGMA {pragma}")

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """The rows of a query, at most a page of them, or SQLite's error."""
        self._deadline = time.monotonic() + self._timeout_s
        try:
            cursor = self._connection.execute(statement, tuple(params))
            rows = cursor.fetchmany(_MOST_ROWS + 1)
            columns = tuple(_settle_name(name) for name, *_ in cursor.description or ())
            cursor.close()
        except (sqlite3.Error, sqlite3.Warning) as error:
            diagnostic = build_diagnostic(error)
            return Outcome(sqlstate=diagnostic.sqlstate or "?", message=str(error))
        except UnicodeEncodeError as error:
            return Outcome(sqlstate="22021", message=str(error))
        return Outcome(columns, tuple(rows[:_MOST_ROWS]), complete=len(rows) <= _MOST_ROWS)

    def close(self) -> None:
        """Ends the connection."""
        self._connection.close()

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline


class SqliteCopy:
    """A principal's own file, in several forms that hold the same rows."""

    def __init__(self, paths: Sequence[Path], *, timeout_s: float) -> None:
        self._sessions = [
            SqliteSession(path, timeout_s=timeout_s, pragmas=pragmas)
            for path in paths
            for pragmas in _PRAGMAS
        ]

    def run(self, statement: str, params: Sequence[object] = ()) -> Outcome:
        """What the query answers there."""
        return self._sessions[0].run(statement, params)

    def run_otherwise(self, statement: str, params: Sequence[object] = ()) -> Iterator[Outcome]:
        """The same backwards, without the indexes that SQLite makes up, and on the other forms."""
        for session in self._sessions[1:]:
            yield session.run(statement, params)

    def close(self) -> None:
        """Ends all connections."""
        for session in self._sessions:
            session.close()


class SqliteStage:
    """One file and copies of it in ``folder``."""

    def __init__(
        self, path: Path, subject: Subject, folder: Path, *, timeout_s: float = 2.0
    ) -> None:
        self.subject = subject
        self._path = path
        self._folder = folder
        self._timeout_s = timeout_s
        self._full = SqliteSession(path, timeout_s=timeout_s)
        self._copies: list[SqliteCopy] = []
        self._wholes: dict[Path, SqliteSession] = {}

    def judge(self, principal: Principal) -> Judge:
        """Makes the principal's copy. Raises PolicyError, sqlite3.Error."""
        parts = (self.subject.policy, self.subject.catalog, principal)
        copy = self.build_copy(principal)
        return Judge(build_guarding(*parts), self._full, copy, reread=build_rereading(*parts))

    def build_target(self, principal: Principal) -> Target:
        """For fuzzing: what passes runs on a copy of the whole file that may be written.

        Raises PolicyError, sqlite3.Error.
        """
        parts = (self.subject.policy, self.subject.catalog, principal)
        path = self._folder / f"{self.subject.name}_{principal.name}_whole.sqlite"
        _copy_file(self._path, path)
        session = SqliteSession(path, timeout_s=self._timeout_s, writable=True)
        self._wholes[path] = session
        return Target(
            principal.name,
            build_guarding(*parts),
            session,
            self.build_copy(principal),
            build_rereading(*parts),
        )

    def describe(self) -> dict[str, str]:
        """A checksum of all that is in the files that may be written."""
        found = {}
        for path in self._wholes:
            with closing(sqlite3.connect(build_sqlite_uri(path), uri=True)) as connection:
                text = "\n".join(connection.iterdump())
            found[path.name] = hashlib.sha256(text.encode()).hexdigest()
        return found

    def build_copy(self, principal: Principal) -> SqliteCopy:
        """The principal's own file in all its forms. Raises sqlite3.Error."""
        subject = self.subject
        roles = list_grants(subject.policy, principal, subject.catalog.tables, "sqlite")
        paths = []
        for form in FORMS:
            paths.append(self._folder / f"{subject.name}_{principal.name}_{form}.sqlite")
            build_sqlite_copy(self._path, paths[-1], subject.catalog, roles, form=form)
        copy = SqliteCopy(paths, timeout_s=self._timeout_s)
        self._copies.append(copy)
        return copy

    def close(self) -> None:
        """Ends all connections; the files stay."""
        self._full.close()
        for session in self._wholes.values():
            session.close()
        for copy in self._copies:
            copy.close()


def build_sqlite_copy(
    source: Path, target: Path, catalog: Catalog, roles: Sequence[Grants], *, form: str = "plain"
) -> None:
    """Makes the file ``target`` for whoever has all of ``roles``, in one of ``FORMS``.

    Raises sqlite3.Error, OSError.
    """
    _copy_file(source, target)
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA legacy_alter_table = ON")
        connection.execute("BEGIN")
        builder = _CopyBuilder(connection, catalog, roles, form)
        for table in catalog.tables:
            builder.rebuild(table.qualified)
        connection.execute("COMMIT")


def _copy_file(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    target.chmod(0o600)


class _CopyBuilder:
    def __init__(
        self,
        connection: sqlite3.Connection,
        catalog: Catalog,
        roles: Sequence[Grants],
        form: str,
    ) -> None:
        self._form = form
        self._connection = connection
        self._catalog = catalog
        self._roles = roles
        self._seen: dict[tuple[int, str], str] = {}
        # Before any table is made anew: parents decide about other tables.
        for role, grants in enumerate(roles):
            for table, grant in grants.items():
                if self._is_table(table):
                    self._find_seen(role, table, grant)

    def rebuild(self, table: str) -> None:
        """Makes one table anew with what is seen of it, or drops it."""
        found = self._catalog.table(table)
        assert found is not None
        name = _quote(found.name)
        if found.kind != "table":
            # A view that is seen stays: SQLite looks for its tables only when it is read.
            if not any(table in grants for grants in self._roles):
                self._connection.execute(f"DROP VIEW {name}")
            return
        seeing = {role: grants[table] for role, grants in enumerate(self._roles) if table in grants}
        columns = [
            column
            for column in found.columns
            if any(column.name not in grant.hidden for grant in seeing.values())
        ]
        self._connection.execute(f"ALTER TABLE {name} RENAME TO _before")
        if columns:
            declared = ", ".join(f"{_quote(each.name)} {each.type}" for each in columns)
            values = ", ".join(self._render_column(each.name, table, seeing) for each in columns)
            condition = self._render_seen(table, seeing)
            self._connection.execute(f"CREATE TABLE {name} ({declared})")
            self._connection.execute(
                f"INSERT INTO {name} SELECT {values} FROM _before AS t WHERE {condition}"
                f" ORDER BY t.rowid {'DESC' if self._form == 'backwards' else 'ASC'}"
            )
            if self._form == "indexed":
                for number, column in enumerate(columns):
                    index = _quote(f"{found.name} {number}")
                    self._connection.execute(
                        f"CREATE INDEX main.{index} ON {name} ({_quote(column.name)})"
                    )
        self._connection.execute("DROP TABLE _before")

    def _render_column(self, column: str, table: str, seeing: dict[int, Grant]) -> str:
        showing = {
            role: grant
            for role, grant in seeing.items()
            if column not in grant.masks and column not in grant.hidden
        }
        value = f"t.{_quote(column)}"
        if len(showing) == len(seeing):
            return value
        return f"CASE WHEN {self._render_seen(table, showing)} THEN {value} END"

    def _render_seen(self, table: str, seeing: dict[int, Grant]) -> str:
        names = [self._seen[role, table] for role in seeing]
        if "" in names:
            return "1"
        return " OR ".join(f"t.rowid IN (SELECT row_id FROM {name})" for name in names) or "0"

    def _find_seen(self, role: int, table: str, grant: Grant) -> str:
        """The temporary table of what a role sees; empty when that is every row."""
        if (role, table) in self._seen:
            return self._seen[role, table]
        name = ""
        if grant.condition or grant.parent:
            condition = self._render_condition(role, table, grant)
            name = f"seen_{len(self._seen)}"
            source = _quote(table.partition(".")[2])
            self._connection.execute(
                f"CREATE TEMP TABLE {name} AS SELECT t.rowid AS row_id, t.*"
                f" FROM main.{source} AS t WHERE {condition}"
            )
        self._seen[role, table] = name
        return name

    def _render_condition(self, role: int, table: str, grant: Grant) -> str:
        parent = grant.parent
        if parent is None:
            return grant.condition
        targets = parent.targets or next(
            key.target_columns
            for key in self._catalog.foreign_keys
            if (key.table, key.columns, key.target) == (table, parent.columns, parent.table)
        )
        seen = self._find_seen(role, parent.table, self._roles[role][parent.table])
        source = seen or f"main.{_quote(parent.table.partition('.')[2])}"
        ours = ", ".join(f"t.{_quote(column)}" for column in parent.columns)
        theirs = ", ".join(map(_quote, targets))
        return f"({ours}) IN (SELECT {theirs} FROM {source})"

    def _is_table(self, name: str) -> bool:
        table = self._catalog.table(name)
        return table is not None and table.kind == "table"


def _settle_name(name: str) -> str:
    """A column's name; of one without a name of its own SQLite gives the text, which may differ."""
    return name if name.isidentifier() else UNNAMED


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
