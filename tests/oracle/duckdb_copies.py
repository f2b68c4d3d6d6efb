"""A copy of a DuckDB file that holds only what one principal may see.

As ``sqlite_stage.py`` does it: what a role sees is put into temporary tables, parents first, and
the copy's tables are made anew from them, with types but without constraints. A second form has its
rows the other way round, so that a query whose result hangs on how rows lie shows it. Hashes, and
views with rows of their own, are not covered.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import duckdb

from nl2sql.catalog import Catalog
from tests.oracle.grants import Grant, Grants

FORMS = ("plain", "backwards")
"""How a copy's rows lie."""


def build_duckdb_copy(
    source: Path, target: Path, catalog: Catalog, roles: Sequence[Grants], *, form: str = "plain"
) -> None:
    """Makes the file ``target`` for whoever has all of ``roles``. Raises duckdb.Error, OSError."""
    shutil.copyfile(source, target)
    with closing(duckdb.connect(target)) as connection:
        _CopyBuilder(connection, catalog, roles, form).build()


class _CopyBuilder:
    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        catalog: Catalog,
        roles: Sequence[Grants],
        form: str,
    ) -> None:
        self._connection = connection
        self._catalog = catalog
        self._roles = roles
        self._form = form
        self._seen: dict[tuple[int, str], str] = {}

    def build(self) -> None:
        tables = [table for table in self._catalog.tables if table.kind == "table"]
        for table in tables:
            for role, grants in enumerate(self._roles):
                if table.qualified in grants:
                    self._find_seen(role, table.qualified, grants[table.qualified])
        for number, table in enumerate(tables):
            self._keep(f"kept_{number}", table.qualified)
        # Tables that others refer to go last.
        pending = [quote(table.qualified) for table in tables]
        while pending:
            name = pending.pop(0)
            try:
                self._connection.execute(f"DROP TABLE {name} CASCADE")
            except duckdb.CatalogException:
                pending.append(name)
        for number, table in enumerate(tables):
            if any(table.qualified in grants for grants in self._roles):
                order = "DESC" if self._form == "backwards" else "ASC"
                self._connection.execute(
                    f"CREATE TABLE {quote(table.qualified)} AS SELECT * EXCLUDE (row_id)"
                    f" FROM kept_{number} ORDER BY row_id {order}"
                )
        for view in self._catalog.tables:
            if view.kind != "table" and not any(view.qualified in each for each in self._roles):
                self._connection.execute(f"DROP VIEW IF EXISTS {quote(view.qualified)}")

    def _keep(self, kept: str, table: str) -> None:
        found = self._catalog.table(table)
        assert found is not None
        seeing = {role: each[table] for role, each in enumerate(self._roles) if table in each}
        columns = [
            self._render_column(each.name, each.type, table, seeing)
            for each in found.columns
            if any(each.name not in grant.hidden for grant in seeing.values())
        ]
        self._connection.execute(
            f"CREATE TEMP TABLE {kept} AS SELECT {', '.join(['t.rowid AS row_id', *columns])}"
            f" FROM {quote(table)} AS t WHERE {self._render_seen(table, seeing)}"
        )

    def _render_column(
        self, column: str, type_name: str, table: str, seeing: dict[int, Grant]
    ) -> str:
        showing = {
            role: grant
            for role, grant in seeing.items()
            if column not in grant.masks and column not in grant.hidden
        }
        name = quote(column, split=False)
        if len(showing) == len(seeing):
            return f"t.{name}"
        condition = self._render_seen(table, showing)
        return f"CASE WHEN {condition} THEN t.{name} END AS {name}"

    def _render_seen(self, table: str, seeing: dict[int, Grant]) -> str:
        names = [self._seen[role, table] for role in seeing]
        if "" in names:
            return "true"
        return " OR ".join(f"t.rowid IN (SELECT row_id FROM {name})" for name in names) or "false"

    def _find_seen(self, role: int, table: str, grant: Grant) -> str:
        """The temporary table of what a role sees; empty when that is every row."""
        if (role, table) not in self._seen:
            name = ""
            if grant.condition or grant.parent:
                condition = grant.condition or self._render_parent(role, table, grant)
                name = f"seen_{len(self._seen)}"
                self._connection.execute(
                    f"CREATE TEMP TABLE {name} AS SELECT t.rowid AS row_id, t.*"
                    f" FROM {quote(table)} AS t WHERE {condition}"
                )
            self._seen[role, table] = name
        return self._seen[role, table]

    def _render_parent(self, role: int, table: str, grant: Grant) -> str:
        parent = grant.parent
        assert parent is not None
        targets = parent.targets or next(
            key.target_columns
            for key in self._catalog.foreign_keys
            if (key.table, key.columns, key.target) == (table, parent.columns, parent.table)
        )
        seen = self._find_seen(role, parent.table, self._roles[role][parent.table])
        ours = ", ".join(f"t.{quote(each, split=False)}" for each in parent.columns)
        theirs = ", ".join(quote(each, split=False) for each in targets)
        return f"({ours}) IN (SELECT ({theirs}) FROM {seen or quote(parent.table)})"


def quote(name: str, *, split: bool = True) -> str:
    """A name as SQL; ``split`` parts a schema from it."""
    parts = name.split(".", 1) if split else [name]
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)
