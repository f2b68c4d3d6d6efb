"""Which cells of a PostgreSQL database one principal may not see, for what overwrites them.

Which rows the principal sees is worked out as for the oracle's copies, without the guard. Left out
are the columns that decide who sees a row (those of conditions and of keys), hashed ones, since a
hash shows what is beneath, and the tables beneath a view with rows of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg import sql

from tests.oracle.grants import Grants
from tests.oracle.postgres_copies import Relation, list_relations
from tests.oracle.seen_rows import SeenRows, render_seen

_COLUMNS = """
SELECT a.attname, t.typname, a.atttypmod, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       EXISTS (SELECT 1 FROM pg_index i
                WHERE i.indrelid = a.attrelid AND i.indisunique AND a.attnum = ANY (i.indkey))
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
 WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
 ORDER BY a.attnum
"""
_KEY_COLUMNS = """
SELECT DISTINCT a.attname FROM pg_constraint k
  JOIN pg_attribute a ON a.attrelid IN (k.conrelid, k.confrelid)
   AND a.attnum = ANY (CASE WHEN a.attrelid = k.conrelid THEN k.conkey ELSE k.confkey END)
 WHERE k.contype = 'f' AND a.attrelid = %s::regclass
"""
# The tables that a view reads, itself or through other views.
_BENEATH = """
WITH RECURSIVE beneath AS (
  SELECT %s::regclass::oid AS oid
  UNION
  SELECT d.refobjid FROM beneath b
    JOIN pg_rewrite r ON r.ev_class = b.oid
    JOIN pg_depend d ON d.objid = r.oid AND d.refclassid = 'pg_class'::regclass)
SELECT n.nspname || '.' || c.relname FROM beneath
  JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = c.relnamespace
"""


class Column(NamedTuple):
    """A column with the name of its type, the type's modifier, and the type as it is declared."""

    name: str
    kind: str
    modifier: int
    declared: str
    not_null: bool
    unique: bool


class HiddenCells:
    """Finds the cells that are hidden from whoever has all of ``roles``."""

    def __init__(self, connection: psycopg.Connection[Any], roles: Sequence[Grants]) -> None:
        """``tables`` are all tables, ``spared`` the names of those whose cells are left out."""
        self._connection = connection
        self._roles = roles
        relations = list_relations(connection)
        self.tables = [relation for relation in relations if relation.kind == "r"]
        sources = {relation.name: relation.identifier for relation in relations}
        self._seen = SeenRows(connection, sources, roles)
        views = {relation.name for relation in relations if relation.kind != "r"}
        own = {view for view in views for role in roles if view in role and role[view].own}
        self.spared = {name for view in own for (name,) in self._fetch(_BENEATH, view)}

    def list_columns(self, table: Relation) -> list[Column]:
        """The columns that are not computed, in their order."""
        return [Column(*row) for row in self._fetch(_COLUMNS, table.identifier.as_string())]

    def list_deciding(self, table: Relation) -> set[str]:
        """The columns of keys and of conditions, by which it is decided who sees a row."""
        found = self._fetch(_KEY_COLUMNS, table.identifier.as_string())
        deciding = {column for (column,) in found}
        for grants in self._roles:
            if table.name in grants:
                deciding |= set(re.findall(r"\w+", grants[table.name].condition))
        return deciding

    def render_seen(self, table: Relation) -> sql.Composable:
        """True for a row that some role sees."""
        numbers = [at for at, grants in enumerate(self._roles) if table.name in grants]
        return render_seen(self._seen.find(number, table.name) for number in numbers)

    def list_hidden(self, table: Relation) -> Iterator[tuple[Column, sql.Composable]]:
        """The columns with hidden cells, each with the condition under which a cell is seen."""
        deciding = self.list_deciding(table)
        granted = {
            number: grants[table.name]
            for number, grants in enumerate(self._roles)
            if table.name in grants
        }
        for column in self.list_columns(table):
            name = column.name
            hashed = any(grant.masks.get(name) == "hash" for grant in granted.values())
            if name in deciding or hashed:
                continue
            showing = [
                self._seen.find(number, table.name)
                for number, grant in granted.items()
                if name not in grant.masks and name not in grant.hidden
            ]
            if None not in showing:
                yield column, render_seen(showing)

    def _fetch(self, query: str, relation: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query.encode(), (relation,)).fetchall()
