"""A whole database in which everything that one principal may not see bears a mark.

Cells of rows that the principal does not see, and of columns hidden or masked, are overwritten:
texts with ``MARK`` in front, numbers with values from ``NUMBERS``, which no cell has otherwise. A
result or an error that holds one of them has leaked. Left alone are the columns that decide who
sees a row (those of conditions and of keys), hashed ones, since a hash shows what is beneath, and
the tables beneath a view with rows of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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

_TYPES = """
SELECT a.attname, t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
 WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
   AND (a.atttypmod = -1 OR (t.typname = 'numeric' AND (a.atttypmod - 4) >> 16 >= 13))
"""
_KEY_COLUMNS = """
SELECT DISTINCT a.attname FROM pg_constraint k
  JOIN pg_attribute a ON a.attrelid IN (k.conrelid, k.confrelid)
   AND a.attnum = ANY (CASE WHEN a.attrelid = k.conrelid THEN k.conkey ELSE k.confkey END)
 WHERE k.contype = 'f' AND a.attrelid = %s::regclass
"""
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
_MARKS = {
    "text": f"'{MARK}' || t.ctid::text || {{}}",
    "int4": "{number}",
    "int8": "{number}",
    "numeric": "{number}",
    "float8": "{number}",
}
# A number for each row: its block and its place in there.
_NUMBER = f"({NUMBERS.start} + (t.ctid::text::point)[0]::int * 300 + (t.ctid::text::point)[1]::int)"


def build_marked(server: EmbeddedServer, source: str, name: str, roles: Sequence[Grants]) -> None:
    """Makes the database ``name`` out of ``source``, which must have no connections.

    Raises psycopg.Error.
    """
    copy_database(server, source, name)
    with open_superuser(server, name) as connection:
        with connection.transaction():
            _mark_rows(connection, roles)
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


def _mark_rows(connection: psycopg.Connection[Any], roles: Sequence[Grants]) -> None:
    relations = list_relations(connection)
    tables = [each for each in relations if each.kind == "r"]
    sources = {each.name: each.identifier for each in relations}
    seen = SeenRows(connection, sources, roles)
    own_views = [
        each.name
        for each in relations
        if each.kind != "r" and any(each.name in role and role[each.name].own for role in roles)
    ]
    spared = set(list_beneath(connection, own_views))
    # All of them before the first change, since parents decide about other tables.
    statements = [
        statement
        for table in tables
        if table.name not in spared and (statement := _render_marks(connection, table, roles, seen))
    ]
    connection.execute("SET LOCAL session_replication_role = replica")
    for table in tables:
        drop_constraints(connection, table, kinds="cu")
    for statement in statements:
        connection.execute(statement)


def list_beneath(connection: psycopg.Connection[Any], views: Iterable[str]) -> Iterator[str]:
    """The tables that these views read, themselves or through other views."""
    for view in views:
        for (name,) in connection.execute(_BENEATH, (view,)).fetchall():
            yield name


def list_deciding(
    connection: psycopg.Connection[Any], table: Relation, roles: Sequence[Grants]
) -> set[str]:
    """The columns of keys and of conditions, by which it is decided who sees a row."""
    name = table.identifier.as_string()
    deciding = {column for (column,) in connection.execute(_KEY_COLUMNS, (name,)).fetchall()}
    for role in roles:
        if table.name in role:
            deciding |= set(re.findall(r"\w+", role[table.name].condition))
    return deciding


def _render_marks(
    connection: psycopg.Connection[Any],
    table: Relation,
    roles: Sequence[Grants],
    seen: SeenRows,
) -> sql.Composed | None:
    name = table.identifier.as_string()
    deciding = list_deciding(connection, table, roles)
    changes = []
    for column, type_name in connection.execute(_TYPES, (name,)).fetchall():
        if column in deciding or type_name not in _MARKS:
            continue
        grants = [role[table.name] for role in roles if table.name in role]
        if any(grant.masks.get(column) == "hash" for grant in grants):
            continue
        showing = [
            number
            for number, role in enumerate(roles)
            if table.name in role
            and column not in role[table.name].masks
            and column not in role[table.name].hidden
        ]
        tables = [seen.find(number, table.name) for number in showing]
        if None in tables:
            continue
        identifier = sql.Identifier("t", column)
        mark = sql.SQL(_MARKS[type_name].replace("{number}", _NUMBER)).format(identifier)
        changes.append(
            sql.SQL("{} = CASE WHEN {} THEN {} ELSE {} END").format(
                sql.Identifier(column), render_seen(tables), identifier, mark
            )
        )
    if not changes:
        return None
    return sql.SQL("UPDATE {} AS t SET {}").format(table.identifier, sql.SQL(", ").join(changes))
