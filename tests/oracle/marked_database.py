"""A whole database in which everything that one principal may not see bears a mark.

Cells of rows that the principal does not see, and of columns hidden or masked, are overwritten:
texts with ``MARK`` in front, numbers with values from ``NUMBERS``, which no cell has otherwise. A
result or an error that holds one of them has leaked.

Which rows the principal sees is worked out as for the oracle's copies, without the guard. Left
alone are the columns that decide who sees a row (those of conditions and of keys), and the tables
beneath a view with rows of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import psycopg
from psycopg import sql

from execution.postgres.embedded import EmbeddedServer
from tests.oracle.grants import Grants
from tests.oracle.outcomes import Outcome
from tests.oracle.postgres_copies import (
    Relation,
    copy_database,
    drop_constraints,
    list_relations,
    open_superuser,
)
from tests.oracle.seen_rows import SeenRows, render_seen

MARK = "zqxmark"
NUMBERS = range(1_900_000_000, 2_000_000_000)

_MARKS = {
    "text": f"'{MARK}' || t.ctid::text || {{}}",
    "int4": "{number}",
    "int8": "{number}",
    "numeric": "{number}",
    "float8": "{number}",
}
# So many digits a numeric must have for one of these numbers, its decimals included.
_MARK_DIGITS = 13
# A number for each row: its block and its place in there.
_NUMBER = f"({NUMBERS.start} + (t.ctid::text::point)[0]::int * 300 + (t.ctid::text::point)[1]::int)"

_COLUMNS = """
SELECT a.attname, t.typname, a.atttypmod
  FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
 WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
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


def build_marked(server: EmbeddedServer, source: str, name: str, roles: Sequence[Grants]) -> None:
    """Makes the database ``name`` out of ``source``, which must have no connections.

    Raises psycopg.Error.
    """
    copy_database(server, source, name)
    with open_superuser(server, name) as connection:
        with connection.transaction():
            _Marker(connection, roles).mark()
        connection.execute("VACUUM ANALYZE")


def has_mark(outcome: Outcome) -> bool:
    """Whether a mark stands in a row or in an error's text."""
    return MARK in outcome.message or any(_is_marked(cell) for row in outcome.rows for cell in row)


def _is_marked(cell: object) -> bool:
    if isinstance(cell, str):
        return MARK in cell
    if isinstance(cell, Decimal) and cell.is_nan():
        # Which cannot be compared.
        return False
    if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool):
        return NUMBERS.start <= cell < NUMBERS.stop
    if isinstance(cell, list | tuple):
        return any(map(_is_marked, cell))
    return isinstance(cell, dict) and any(map(_is_marked, cell.values()))


class _Marker:
    def __init__(self, connection: psycopg.Connection[Any], roles: Sequence[Grants]) -> None:
        self._connection = connection
        self._roles = roles
        relations = list_relations(connection)
        sources = {relation.name: relation.identifier for relation in relations}
        self._seen = SeenRows(connection, sources, roles)
        own = {
            relation.name
            for relation in relations
            for role in roles
            if relation.kind != "r" and relation.name in role and role[relation.name].own
        }
        spared = {name for view in own for (name,) in self._fetch(_BENEATH, view)}
        self._tables = [table for table in relations if table.kind == "r"]
        self._marked = [table for table in self._tables if table.name not in spared]

    def mark(self) -> None:
        # All of them before the first change, since parents decide about other tables.
        statements = [
            sql.SQL("UPDATE {} AS t SET {}").format(table.identifier, sql.SQL(", ").join(changes))
            for table in self._marked
            if (changes := list(self._render_changes(table)))
        ]
        self._connection.execute("SET LOCAL session_replication_role = replica")
        for table in self._tables:
            drop_constraints(self._connection, table, kinds="cu")
        for statement in statements:
            self._connection.execute(statement)

    def _render_changes(self, table: Relation) -> Iterator[sql.Composable]:
        """Assignments to the columns with hidden cells that can bear a mark."""
        name = table.identifier.as_string()
        grants = {at: role[table.name] for at, role in enumerate(self._roles) if table.name in role}
        deciding = {column for (column,) in self._fetch(_KEY_COLUMNS, name)}
        for grant in grants.values():
            deciding |= set(re.findall(r"\w+", grant.condition))
        for column, kind, modifier in self._fetch(_COLUMNS, name):
            digits = (modifier - 4) >> 16 if kind == "numeric" else 0
            fits = kind in _MARKS and (modifier == -1 or digits >= _MARK_DIGITS)
            if not fits or column in deciding:
                continue
            showing = [
                self._seen.find(at, table.name)
                for at, grant in grants.items()
                if column not in grant.masks and column not in grant.hidden
            ]
            if None not in showing:
                value = sql.Identifier("t", column)
                mark = sql.SQL(_MARKS[kind].replace("{number}", _NUMBER)).format(value)
                yield sql.SQL("{} = CASE WHEN {} THEN {} ELSE {} END").format(
                    sql.Identifier(column), render_seen(showing), value, mark
                )

    def _fetch(self, query: str, relation: str) -> list[tuple[Any, ...]]:
        return self._connection.execute(query.encode(), (relation,)).fetchall()
