"""A copy of a file, SQLite's or DuckDB's, that holds only what one principal may see.

As ``postgres_copies.py`` does it, and without the guard's code: what a role sees is put into
temporary tables, parents first, and the copy's tables are made anew from them, with types but
without constraints; a view whose rows the policy itself tells becomes such a table.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from nl2sql.catalog import Catalog, Column, Table
from tests.oracle.grants import Grant, Grants

FORMS = {"sqlite": ("plain", "backwards", "indexed"), "duckdb": ("plain", "backwards")}
"""How a copy's rows lie: as they did, the other way round, or with an index on each column."""


def build_file_copy(
    source: Path, target: Path, catalog: Catalog, roles: Sequence[Grants], *, form: str = "plain"
) -> None:
    """Makes the file ``target`` for whoever has all of ``roles``, in one of the dialect's forms.

    Raises sqlite3.Error, duckdb.Error, OSError.
    """
    copy_file(source, target)
    if catalog.dialect == "duckdb":
        with closing(duckdb.connect(target)) as duck:
            _CopyBuilder(duck, catalog, roles, form).build()
        return
    with closing(sqlite3.connect(target, isolation_level=None)) as connection:
        for statement in ("PRAGMA journal_mode = OFF", "PRAGMA foreign_keys = OFF", "BEGIN"):
            connection.execute(statement)
        _CopyBuilder(connection, catalog, roles, form).build()
        connection.execute("COMMIT")


def copy_file(source: Path, target: Path) -> None:
    """Copies the file; the copy may be written."""
    shutil.copyfile(source, target)
    target.chmod(0o600)


@dataclass(frozen=True, slots=True)
class _CopyBuilder:
    connection: sqlite3.Connection | duckdb.DuckDBPyConnection
    catalog: Catalog
    roles: Sequence[Grants]
    form: str
    seen: dict[tuple[int, str], str] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)

    def build(self) -> None:
        own = {name for role in self.roles for name, grant in role.items() if grant.own}
        for number, view in enumerate(self.catalog.tables):
            if view.kind != "table" and view.qualified in own:
                # Unlike a view, a table has row identifiers.
                self.sources[view.qualified] = f"source_{number}"
                self.connection.execute(
                    f"CREATE TEMP TABLE source_{number} AS SELECT * FROM {quote(view.qualified)}"
                )
        tables = [
            table
            for table in self.catalog.tables
            if table.kind == "table" or table.qualified in self.sources
        ]
        # All before any table is made anew: parents decide about other tables.
        columns = [self._keep(f"kept_{number}", table) for number, table in enumerate(tables)]
        for name in self.sources:
            self.connection.execute(f"DROP VIEW {quote(name)}")
        self._drop([quote(table.qualified) for table in tables if table.kind == "table"])
        for number, table in enumerate(tables):
            if columns[number]:
                self._rebuild(f"kept_{number}", table, columns[number])
        for view in self.catalog.tables:
            # A view that is seen stays: its tables are looked for only when it is read.
            if view not in tables and not any(view.qualified in role for role in self.roles):
                self.connection.execute(f"DROP VIEW IF EXISTS {quote(view.qualified)}")

    def _keep(self, kept: str, table: Table) -> list[Column]:
        """Puts what is seen of the table into ``kept``; the columns that are left of it."""
        name = table.qualified
        seeing = {number: role[name] for number, role in enumerate(self.roles) if name in role}
        columns = [
            column
            for column in table.columns
            if any(column.name not in grant.hidden for grant in seeing.values())
        ]
        values = [self._render_column(column.name, name, seeing) for column in columns]
        self.connection.execute(
            f"CREATE TEMP TABLE {kept} AS SELECT {', '.join(['t.rowid AS row_id', *values])}"
            f" FROM {self._find_source(name)} AS t WHERE {self._render_seen(name, seeing)}"
        )
        return columns

    def _drop(self, names: list[str]) -> None:
        while names:
            name = names.pop(0)
            try:
                self.connection.execute(f"DROP TABLE {name}")
            except duckdb.CatalogException:
                # Tables that others refer to go last.
                names.append(name)

    def _rebuild(self, kept: str, table: Table, columns: list[Column]) -> None:
        name = quote(table.qualified)
        names = [quote_part(column.name) for column in columns]
        declared = ", ".join(f"{quote_part(column.name)} {column.type}" for column in columns)
        self.connection.execute(f"CREATE TABLE {name} ({declared})")
        self.connection.execute(
            f"INSERT INTO {name} SELECT {', '.join(names)} FROM {kept}"
            f" ORDER BY row_id {'DESC' if self.form == 'backwards' else 'ASC'}"
        )
        if self.form == "indexed":
            for number, column in enumerate(names):
                index = quote_part(f"{table.name} {number}")
                on = f"{quote_part(table.name)} ({column})"
                self.connection.execute(f"CREATE INDEX main.{index} ON {on}")

    def _render_column(self, column: str, table: str, seeing: dict[int, Grant]) -> str:
        showing = {
            number: grant
            for number, grant in seeing.items()
            if column not in grant.masks and column not in grant.hidden
        }
        name = quote_part(column)
        if len(showing) == len(seeing):
            return f"t.{name}"
        return f"CASE WHEN {self._render_seen(table, showing)} THEN t.{name} END AS {name}"

    def _render_seen(self, table: str, seeing: dict[int, Grant]) -> str:
        names = [self._find_seen(number, table, grant) for number, grant in seeing.items()]
        if "" in names:
            return "true"
        return " OR ".join(f"t.rowid IN (SELECT row_id FROM {name})" for name in names) or "false"

    def _find_seen(self, role: int, table: str, grant: Grant) -> str:
        """The temporary table of what a role sees; empty when that is every row."""
        if (role, table) not in self.seen:
            name = ""
            if grant.condition or grant.parent:
                condition = grant.condition or self._render_parent(role, table, grant)
                name = f"seen_{len(self.seen)}"
                self.connection.execute(
                    f"CREATE TEMP TABLE {name} AS SELECT t.rowid AS row_id, t.*"
                    f" FROM {self._find_source(table)} AS t WHERE {condition}"
                )
            self.seen[role, table] = name
        return self.seen[role, table]

    def _render_parent(self, role: int, table: str, grant: Grant) -> str:
        parent = grant.parent
        assert parent is not None
        targets = parent.targets or next(
            key.target_columns
            for key in self.catalog.foreign_keys
            if (key.table, key.columns, key.target) == (table, parent.columns, parent.table)
        )
        seen = self._find_seen(role, parent.table, self.roles[role][parent.table])
        ours = ", ".join(f"t.{quote_part(column)}" for column in parent.columns)
        theirs = ", ".join(map(quote_part, targets))
        if self.catalog.dialect == "duckdb":
            theirs = f"({theirs})"
        return f"({ours}) IN (SELECT {theirs} FROM {seen or self._find_source(parent.table)})"

    def _find_source(self, table: str) -> str:
        return self.sources.get(table, quote(table))


def quote(name: str) -> str:
    """``schema.table`` as SQL."""
    return ".".join(map(quote_part, name.split(".", 1)))


def quote_part(name: str) -> str:
    """A name as SQL."""
    return '"' + name.replace('"', '""') + '"'
