"""A PostgreSQL database in which only what one principal may not see has been changed.

Tables are filled again in the order in which their rows lay, so that nothing but the hidden rows
differs, and analysed, so that the planner's statistics do. Left alone are the columns of unique
keys, and what ``hidden_cells.py`` leaves out.

``describe_visible`` says what is left when all that is hidden is taken away: it must not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

import psycopg
from psycopg import sql

from execution.postgres.embedded import EmbeddedServer
from tests.oracle.grants import Grants
from tests.oracle.hidden_cells import Column, HiddenCells
from tests.oracle.metamorphic.hidden_values import POSTGRES_VALUES, list_numerics
from tests.oracle.postgres_copies import (
    Relation,
    build_copy,
    copy_database,
    drop_constraints,
    list_relations,
    open_superuser,
)

_UNIQUE = """
SELECT (SELECT array_agg(a.attname::text) FROM pg_attribute a
         WHERE a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey))
  FROM pg_index i WHERE i.indrelid = %s::regclass AND i.indisunique
"""
# Added keys keep what remainders a filter may look at, and stay within four bytes.
_KEY_STEP = 60_060_000


class Change(StrEnum):
    """What happens to all that is hidden."""

    ODD = "odd"
    SAME = "same"
    NULLS = "nulls"
    DELETED = "deleted"
    ADDED = "added"


def build_base(server: EmbeddedServer, source: str, name: str) -> None:
    """Makes ``name``, which both sides are made from: ``source`` without its checks of values.

    ``source`` must have no connections. Raises psycopg.Error.
    """
    copy_database(server, source, name)
    with open_superuser(server, name) as connection:
        for relation in list_relations(connection):
            if relation.kind == "r":
                drop_constraints(connection, relation, kinds="c")
        connection.execute("VACUUM ANALYZE")


def build_changed(
    server: EmbeddedServer, base: str, name: str, roles: Sequence[Grants], change: Change
) -> int:
    """Makes ``name`` out of ``base``; how many tables there are in which something changed.

    ``base`` must have no connections. Raises psycopg.Error.
    """
    copy_database(server, base, name)
    with open_superuser(server, name) as connection:
        changed = _Changer(connection, roles, change).change()
        connection.execute("VACUUM ANALYZE")
    return changed


def describe_visible(
    server: EmbeddedServer, database: str, roles: Sequence[Grants], hash_key: str
) -> dict[str, object]:
    """Rows and a checksum of each table of the copy that holds only what the principal sees.

    ``database`` must have no connections. Raises psycopg.Error.
    """
    copy = f"{database}_seen"
    build_copy(server, database, copy, roles, hash_key=hash_key)
    found: dict[str, object] = {}
    with open_superuser(server, copy) as connection:
        for relation in list_relations(connection):
            statement = sql.SQL("SELECT count(*), sum(hashtextextended(t::text, 0)) FROM {} AS t")
            found[relation.name] = connection.execute(
                statement.format(relation.identifier)
            ).fetchone()
    server.drop_database(copy)
    return found


class _Changer:
    def __init__(
        self, connection: psycopg.Connection[Any], roles: Sequence[Grants], change: Change
    ) -> None:
        self._connection = connection
        self._change = change
        self._cells = HiddenCells(connection, roles)
        # No guarded query reads the others.
        read = {name for role in roles for name in role}
        read |= {grant.parent.table for role in roles for grant in role.values() if grant.parent}
        self._tables = [
            table for table in self._cells.tables if table.name in read - self._cells.spared
        ]

    def change(self) -> int:
        # All of it before the first change, since parents decide about other tables.
        new = {
            table: rows
            for number, table in enumerate(self._tables)
            if (rows := self._build_rows(number, table))
        }
        self._execute("SET session_replication_role = replica")
        for table, (temporary, columns) in new.items():
            self._refill(table, temporary, columns)
        return len(new)

    def _refill(self, table: Relation, rows: sql.Identifier, columns: list[str]) -> None:
        """Replaces the rows of the table by ``rows``, in their order.

        Rows are written where there is room for them; CLUSTER puts them in order.
        """
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        place = table.identifier
        self._execute("ALTER TABLE {} ADD COLUMN _place bigint", place)
        self._execute("DELETE FROM {}", place)
        self._execute(
            "INSERT INTO {} ({}, _place) OVERRIDING SYSTEM VALUE "
            "SELECT {}, row_number() OVER (ORDER BY old_place, copy) FROM {}",
            place,
            names,
            names,
            rows,
        )
        self._execute("CREATE INDEX _by_place ON {} (_place)", place)
        self._execute("CLUSTER {} USING _by_place", place)
        self._execute("ALTER TABLE {} DROP COLUMN _place", place)

    def _build_rows(self, number: int, table: Relation) -> tuple[sql.Identifier, list[str]] | None:
        """The temporary table of its rows to be, and its columns; None where nothing changes."""
        seen = self._cells.render_seen(table)
        columns = [column.name for column in self._cells.list_columns(table)]
        outputs = {name: sql.Identifier("t", name).as_string() for name in columns}
        if seen == sql.SQL("true") and self._change in (Change.DELETED, Change.ADDED):
            return None
        if self._change is Change.DELETED:
            selects = [self._select(table, 0, outputs, seen)]
        elif self._change is Change.ADDED:
            keys = self._find_keys(table)
            if keys is None:
                return None
            hidden = sql.SQL("NOT ({})").format(seen)
            selects = [
                self._select(table, 0, outputs, sql.SQL("true")),
                self._select(table, 1, outputs | keys, hidden),
            ]
        else:
            changes = dict(self._render_changes(table))
            if not changes:
                return None
            selects = [self._select(table, 0, outputs | changes, sql.SQL("true"))]
        rows = sql.Identifier(f"new_{number}")
        self._execute("CREATE TEMP TABLE {} AS {}", rows, sql.SQL(" UNION ALL ").join(selects))
        return rows, columns

    def _select(
        self, table: Relation, copy: int, outputs: dict[str, str], where: sql.Composable
    ) -> sql.Composable:
        named = [
            sql.SQL("{} AS {}").format(sql.SQL(text), sql.Identifier(name))
            for name, text in outputs.items()
        ]
        return sql.SQL("SELECT t.ctid AS old_place, {} AS copy, {} FROM {} AS t WHERE {}").format(
            sql.Literal(copy), sql.SQL(", ").join(named), table.identifier, where
        )

    def _render_changes(self, table: Relation) -> Iterator[tuple[str, str]]:
        """Column → its new value, which is the old one wherever the principal sees it."""
        for column, seen in self._cells.list_hidden(table):
            value = "" if column.unique else self._render_value(column)
            if value:
                name = sql.Identifier("t", column.name).as_string()
                yield column.name, f"CASE WHEN {seen.as_string()} THEN {name} ELSE {value} END"

    def _render_value(self, column: Column) -> str:
        """An expression over the row ``t``; empty where the column is left alone."""
        if self._change is Change.NULLS:
            return "" if column.not_null else f"NULL::{column.declared}"
        if column.kind == "numeric":
            # PostgreSQL packs precision and scale, behind a header of four bytes.
            packed = column.modifier - 4
            values = list_numerics(0 if column.modifier < 0 else (packed >> 16) - (packed & 0x7FF))
        else:
            values = tuple(POSTGRES_VALUES.get(column.kind, ()))
        if self._change is Change.SAME:
            values = values[:1]
        if not values:
            return ""
        texts = ", ".join(sql.Literal(value).as_string() for value in values)
        # A hash is spread evenly, wherever the row lies.
        salt = sql.Literal(column.name).as_string()
        place = f"abs(hashtext(t.ctid::text || {salt})::bigint)"
        return f"(ARRAY[{texts}])[1 + {place} % {len(values)}]::{column.declared}"

    def _find_keys(self, table: Relation) -> dict[str, str] | None:
        """New values for a column of each unique key; None where there is a key without one."""
        found: dict[str, str] = {}
        deciding = self._cells.list_deciding(table)
        kinds = {column.name: column.kind for column in self._cells.list_columns(table)}
        place = table.identifier.as_string()
        for (columns,) in self._connection.execute(_UNIQUE, (place,)).fetchall():
            fitting = [
                name for name in columns or () if kinds.get(name) in ("int4", "int8", "text")
            ]
            if not fitting:
                return None
            column = min(fitting, key=lambda name: (name in deciding, name))
            name = sql.Identifier("t", column).as_string()
            is_text = kinds[column] == "text"
            found[column] = name + (" || '~1'" if is_text else f" + {_KEY_STEP}")
        return found

    def _execute(self, statement: str, *parts: sql.Composable) -> None:
        self._connection.execute(sql.SQL(statement).format(*parts))
