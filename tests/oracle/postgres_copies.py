"""A copy of a PostgreSQL database that holds only what one principal may see.

Made from the grants of a policy by means that share nothing with the guard's rewriting: what each
role sees is written into temporary tables, parents first; then every table is emptied and filled
again with the rows that some role sees, columns masked row by row; hidden columns, hidden tables
and their views are dropped. No table INHERITS there: each has all rows of its own. Rows lie in a
copy in one of several orders, so that a query whose result depends on where rows lie shows it:
copies answer it in several ways.

Does not cover partitions, foreign tables, and columns that are identities or computed when read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from execution.postgres.embedded import SUPERUSER, EmbeddedServer, grant_reader
from tests.oracle.grants import Grant, Grants
from tests.oracle.seen_rows import ROW, SeenRows, render_seen

PRISTINE = "pristine_demo"
"""The demo ERP on the tests' embedded server, which nobody connects to: others are copied from it.
"""

FORWARD = "forward"
ORDERS: Mapping[str, LiteralString] = {
    FORWARD: "row_table, row_id",
    "reverse": "row_table DESC, row_id DESC",
    "shuffled": "md5(row_id::text)",
    "shuffled_again": "md5('again' || row_id)",
}
"""How the rows of a copy may lie, with the expression that sorts them so."""

_COLUMNS = """
SELECT n.nspname || '.' || c.relname, c.relkind::text,
       array_agg(a.attname::text ORDER BY a.attnum), c.oid::bigint
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relkind IN ('r', 'v', 'm')
   AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
 GROUP BY 1, 2, 4 ORDER BY 4
"""
_CONSTRAINTS = """
SELECT k.conname, k.contype::text,
       (SELECT array_agg(a.attname::text) FROM pg_attribute a
         WHERE a.attrelid = k.conrelid AND a.attnum = ANY (k.conkey))
  FROM pg_constraint k WHERE k.conrelid = %s::regclass AND k.contype <> 'n'
"""
_HEIRS = """
SELECT n.nspname || '.' || p.relname, p.oid::regclass::text, i.inhrelid::regclass::text
  FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent AND p.relkind = 'r'
  JOIN pg_namespace n ON n.oid = p.relnamespace
"""
_GENERATED = """
SELECT attname FROM pg_attribute
 WHERE attrelid = %s::regclass AND attgenerated = 's' AND NOT attisdropped
"""


@dataclass(frozen=True, slots=True)
class Relation:
    """A table (kind ``r``), view (``v``) or materialized view (``m``) with its columns."""

    name: str
    kind: str
    columns: tuple[str, ...]

    @property
    def identifier(self) -> sql.Identifier:
        """Its name as SQL."""
        return sql.Identifier(*self.name.split(".", 1))


def list_relations(connection: psycopg.Connection[Any]) -> list[Relation]:
    """All tables and views outside the system's schemas, in the order of their creation."""
    rows = connection.execute(_COLUMNS).fetchall()
    return [Relation(name, kind, tuple(columns)) for name, kind, columns, _ in rows]


def build_copy(
    server: EmbeddedServer,
    source: str,
    name: str,
    roles: Sequence[Grants],
    *,
    order: str = FORWARD,
) -> None:
    """Makes the database ``name`` out of ``source``, for whoever has all of ``roles``.

    ``source`` must have no connections. ``order`` is one of ``ORDERS``: how the rows of each table
    lie. Raises psycopg.Error.
    """
    copy_database(server, source, name)
    with open_superuser(server, name) as connection, connection.transaction():
        builder = _CopyBuilder(connection, roles, order)
        builder.build()
    with open_superuser(server, name) as connection:
        grant_reader(connection)
        connection.execute("VACUUM ANALYZE")


def copy_database(server: EmbeddedServer, source: str, name: str) -> None:
    """Makes ``name`` the same as ``source``, which must have no connections."""
    server.drop_database(name)
    with open_superuser(server, "postgres") as admin:
        admin.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
                sql.Identifier(name), sql.Identifier(source)
            )
        )


def note_version(server: EmbeddedServer, name: str, version: str) -> None:
    """Marks a copy as ``EmbeddedServer.load`` marks a database that it has filled."""
    with open_superuser(server, "postgres") as admin:
        admin.execute(
            sql.SQL("COMMENT ON DATABASE {} IS {}").format(
                sql.Identifier(name), sql.Literal(version)
            )
        )


def drop_constraints(
    connection: psycopg.Connection[Any],
    table: Relation,
    *,
    kinds: str,
    columns: frozenset[str] | None = None,
) -> None:
    """Drops the constraints of these ``contype``s; with ``columns`` only those on one of them."""
    named = connection.execute(_CONSTRAINTS, (table.identifier.as_string(),)).fetchall()
    for constraint, kind, over in named:
        if kind in kinds and (columns is None or columns & set(over or ())):
            statement = sql.SQL("ALTER TABLE {} DROP CONSTRAINT {} CASCADE")
            connection.execute(statement.format(table.identifier, sql.Identifier(constraint)))


def quieten(server: EmbeddedServer) -> None:
    """Lets the server sync nothing: databases are made and dropped in a tenth of the time.

    It does not vacuum by itself either, which would connect it to a database to be copied.
    """
    _change_system(server, "SET fsync = off", "SET autovacuum = off")


@contextmanager
def quiet_server(server: EmbeddedServer) -> Iterator[None]:
    """Quietens the server until the block ends."""
    quieten(server)
    try:
        yield
    finally:
        _change_system(server, "RESET fsync", "RESET autovacuum")


def _change_system(server: EmbeddedServer, *changes: LiteralString) -> None:
    with open_superuser(server, "postgres") as connection:
        for change in changes:
            connection.execute(sql.SQL("ALTER SYSTEM ") + sql.SQL(change))
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def open_superuser(server: EmbeddedServer, database: str) -> Iterator[psycopg.Connection[Any]]:
    """An autocommit connection that waits for no disk."""
    with psycopg.connect(server.url(database, SUPERUSER), autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        yield connection


@dataclass(frozen=True, slots=True)
class _Kept:
    """What stays of a relation: a temporary table of it, or all as it is where there is none."""

    rows: sql.Identifier | None = None
    nulled: frozenset[str] = frozenset()


class _CopyBuilder:
    def __init__(
        self,
        connection: psycopg.Connection[Any],
        roles: Sequence[Grants],
        order: str,
    ) -> None:
        self._connection = connection
        self._roles = roles
        self._order = order
        # Definitions of views are then printed with every name under its schema.
        connection.execute("SET LOCAL search_path = ''")
        self._relations = list_relations(connection)
        self._sources = {relation.name: self._find_source(relation) for relation in self._relations}
        self._seen = SeenRows(connection, self._sources, roles)
        self._heirs = connection.execute(_HEIRS).fetchall()
        self._parents = {name for name, _, _ in self._heirs}

    def _find_source(self, relation: Relation) -> sql.Identifier:
        """The table itself; for a view with rows of its own a temporary table, which has ctids."""
        name = relation.name
        if relation.kind == "r" or not any(
            name in grants and grants[name].own for grants in self._roles
        ):
            return relation.identifier
        rows = sql.Identifier(f"rows_{name}")
        self._execute("CREATE TEMP TABLE {} AS SELECT * FROM {}", rows, relation.identifier)
        return rows

    def build(self) -> None:
        tables = [relation for relation in self._relations if relation.kind == "r"]
        views = [relation for relation in self._relations if relation.kind != "r"]
        definitions = {view.name: self._read_definition(view) for view in views}
        kept = {
            relation.name: kept for relation in [*tables, *views] if (kept := self._keep(relation))
        }
        for view in reversed(views):
            self._execute(f"DROP {_keyword(view)} {{}}", view.identifier)
        self._drop_foreign_keys()
        for _, parent, heir in self._heirs:
            self._execute(f"ALTER TABLE {heir} NO INHERIT {parent}")
        for table in tables:
            if table.name not in kept:
                self._execute("DROP TABLE {}", table.identifier)
            else:
                self._refill(table, kept[table.name])
        for view in views:
            if view.name in kept:
                self._rebuild_view(view, definitions[view.name], kept[view.name])

    # -- what stays ----------------------------------------------------------------------------

    def _keep(self, relation: Relation) -> _Kept | None:
        """What is kept of the relation; None when nothing of it is seen."""
        seeing = [role for role, grants in enumerate(self._roles) if relation.name in grants]
        if relation.kind != "r":
            direct = [role for role in seeing if self._roles[role][relation.name].own]
            if not direct:
                return _Kept() if seeing else None
            seeing = direct
        grants = {role: self._roles[role][relation.name] for role in seeing}
        columns = [
            column
            for column in relation.columns
            if any(column not in grant.hidden for grant in grants.values())
        ]
        if not columns:
            return None
        is_whole = any(grant.is_whole for grant in grants.values())
        is_there = relation.kind == "r" and relation.name not in self._parents
        if is_there and is_whole and self._order == FORWARD:
            return _Kept()
        seen = {role: self._seen.find(role, relation.name) for role in seeing}
        rendered = {column: self._render_column(column, grants, seen) for column in columns}
        name = sql.Identifier(f"kept_{relation.name}")
        self._execute(
            "CREATE TEMP TABLE {} AS SELECT " + ROW + ", {} FROM {} t WHERE {}",
            name,
            sql.SQL(", ").join(rendered.values()),
            self._sources[relation.name],
            render_seen(seen.values()),
        )
        masked = {column for column in columns if rendered[column] != sql.Identifier("t", column)}
        return _Kept(name, frozenset(masked))

    def _render_column(
        self,
        column: str,
        grants: Mapping[int, Grant],
        seen: Mapping[int, sql.Identifier | None],
    ) -> sql.Composable:
        """The column as it is where some role that sees the row shows it, else its mask."""
        showing = [
            role
            for role, grant in grants.items()
            if column not in grant.masks and column not in grant.hidden
        ]
        identifier = sql.Identifier("t", column)
        if len(showing) == len(seen) or any(seen[role] is None for role in showing):
            return identifier
        return sql.SQL("CASE WHEN {} THEN {} END AS {}").format(
            render_seen(seen[role] for role in showing), identifier, sql.Identifier(column)
        )

    # -- putting it there ----------------------------------------------------------------------

    def _refill(self, table: Relation, kept: _Kept) -> None:
        if kept.rows is None:
            return
        kept_columns = self._read_columns(kept.rows)
        for (column,) in self._connection.execute(
            _GENERATED, (table.identifier.as_string(),)
        ).fetchall():
            self._execute(
                "ALTER TABLE {} ALTER {} DROP EXPRESSION", table.identifier, sql.Identifier(column)
            )
        self._execute("TRUNCATE {}", table.identifier)
        # Checks, which no mask satisfies, and keys with a column that is NULL now.
        drop_constraints(self._connection, table, kinds="c")
        # Across tables that inherit no key holds.
        nulled = None if table.name in self._parents else kept.nulled
        drop_constraints(self._connection, table, kinds="pu", columns=nulled)
        for column in table.columns:
            name = sql.Identifier(column)
            if column not in kept_columns:
                self._execute("ALTER TABLE {} DROP COLUMN {} CASCADE", table.identifier, name)
            elif column in kept.nulled:
                self._execute("ALTER TABLE {} ALTER {} DROP NOT NULL", table.identifier, name)
        columns = sql.SQL(", ").join(map(sql.Identifier, kept_columns))
        self._execute(
            "INSERT INTO {} ({}) SELECT {} FROM {} ORDER BY {}",
            table.identifier,
            columns,
            columns,
            kept.rows,
            sql.SQL(ORDERS[self._order]),
        )

    def _read_columns(self, kept: sql.Identifier) -> list[str]:
        cursor = self._connection.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(kept))
        names = [column.name for column in cursor.description or ()]
        return [name for name in names if name not in ("row_table", "row_id")]

    def _drop_foreign_keys(self) -> None:
        keys = self._connection.execute(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'f'"
        ).fetchall()
        for table, name in keys:
            statement = f"ALTER TABLE {table} DROP CONSTRAINT {{}}"
            self._execute(statement, sql.Identifier(name))

    # -- views ---------------------------------------------------------------------------------

    def _read_definition(self, view: Relation) -> str:
        row = self._connection.execute(
            "SELECT pg_get_viewdef(%s::regclass)", (view.identifier.as_string(),)
        ).fetchone()
        assert row is not None
        return str(row[0])

    def _rebuild_view(self, view: Relation, definition: str, kept: _Kept) -> None:
        """A view over what is left; a table where the policy has rows of its own for it.

        One whose tables or columns are gone, is gone too.
        """
        if kept.rows is not None:
            self._execute(
                "CREATE TABLE {} AS SELECT * FROM {} ORDER BY {}",
                view.identifier,
                kept.rows,
                sql.SQL(ORDERS[self._order]),
            )
            drop = "ALTER TABLE {} DROP COLUMN row_table, DROP COLUMN row_id"
            self._execute(drop, view.identifier)
            return
        columns = sql.SQL(", ").join(map(sql.Identifier, view.columns))
        statement = f"CREATE {_keyword(view)} {{}} ({{}}) AS {_escape(definition)}"
        with suppress(psycopg.ProgrammingError), self._connection.transaction():
            self._execute(statement, view.identifier, columns)

    def _execute(self, statement: str, *parts: sql.Composable) -> None:
        self._connection.execute(sql.SQL(statement).format(*parts))


def _keyword(view: Relation) -> str:
    return "MATERIALIZED VIEW" if view.kind == "m" else "VIEW"


def _escape(definition: str) -> str:
    return definition.rstrip().rstrip(";").replace("{", "{{").replace("}", "}}")
