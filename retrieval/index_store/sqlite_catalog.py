"""Reads the schema of an SQLite file: its tables and views, all in the schema ``main``.

A view's columns have types only where SQLite finds them, and no schema has comments. Left out:
SQLite's own tables, virtual tables and their shadows (their content is a module's business), hidden
columns, and what SQLite allows though it points nowhere: foreign keys, and views.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.errors import DatabaseUnavailable
from nl2sql.names import build_sqlite_uri, fold_name

_SCHEMA = "main"

_TABLES = r"""
SELECT t.name, t.type, coalesce(s.sql, '')
  FROM pragma_table_list t LEFT JOIN sqlite_master s ON s.name = t.name AND s.type = 'view'
 WHERE t.schema = 'main' AND t.type IN ('table', 'view')
   AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
 ORDER BY t.name
"""

_COLUMNS = """
SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?, 'main') WHERE hidden <> 1 ORDER BY cid
"""

_FOREIGN_KEYS = """
SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq
"""

_NAME = r"""(?:"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[\w$]+)"""
_VIEW = re.compile(
    rf"""\s*CREATE\s+(?:TEMP\w*\s+)?VIEW\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:{_NAME}\s*\.\s*)?{_NAME}\s*
    \bAS\b(?P<query>.+)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)

_KeyRow = tuple[int, str, str, str | None]


def read_sqlite_catalog(path: Path, *, database: str) -> Catalog:
    """The catalog of the file at ``path``, opened read-only. Raises DatabaseUnavailable."""
    try:
        with closing(sqlite3.connect(build_sqlite_uri(path), uri=True)) as connection:
            connection.text_factory = lambda text: text.decode(errors="replace")
            connection.execute("PRAGMA query_only = ON")
            connection.execute("PRAGMA trusted_schema = OFF")
            found = connection.execute(_TABLES).fetchall()
            tables = tuple(
                table
                for name, kind, text in found
                if (table := _read_table(connection, name, kind, text))
            )
            keys = {
                table: connection.execute(_FOREIGN_KEYS, (table.name,)).fetchall()
                for table in tables
            }
    except sqlite3.Error as error:
        raise DatabaseUnavailable(
            f"Cannot read the schema of {path}: {error}.",
            database=database,
            hint="Is it an SQLite database, and may this process read it?",
        ) from error
    return Catalog(database, tables, _build_keys(keys), search_path=(_SCHEMA,), dialect="sqlite")


def _read_table(connection: sqlite3.Connection, name: str, kind: str, sql: str) -> Table | None:
    """None for a view that reads what is no longer there. Raises sqlite3.Error."""
    try:
        rows = connection.execute(_COLUMNS, (name,)).fetchall()
    except sqlite3.OperationalError:
        if kind != "view":
            raise
        return None
    return Table(
        schema=_SCHEMA,
        name=name,
        columns=tuple(
            Column(name=column, type=declared, nullable=not not_null)
            for column, declared, not_null, _ in rows
        ),
        primary_key=tuple(
            column for position, column in sorted((row[3], row[0]) for row in rows) if position
        ),
        kind=kind,
        definition=_read_definition(sql),
    )


def _read_definition(sql: str) -> str:
    """The query in ``CREATE VIEW name AS query``; empty where the columns are named beside it.

    A string or a comment with AS in it cannot stand before the first AS that does not belong to it:
    there is only the name.
    """
    found = _VIEW.match(sql)
    return found["query"] if found else ""


def _build_keys(rows: dict[Table, list[_KeyRow]]) -> tuple[ForeignKey, ...]:
    by_name = {_fold(table.name): table for table in rows}
    keys = []
    for table, found in rows.items():
        for number, pairs in groupby(found, key=itemgetter(0)):
            parts = list(pairs)
            target = by_name.get(_fold(parts[0][1]))
            if target is None:
                continue
            columns = _spell((column for _, _, column, _ in parts), table)
            # Without columns of its own, a reference means the target's primary key.
            named = [column for *_, column in parts if column is not None]
            targets = _spell(named, target) if named else target.primary_key
            if columns and targets and len(columns) == len(targets) == len(parts):
                name = f"{table.name}_{number}"
                keys.append(ForeignKey(name, table.qualified, columns, target.qualified, targets))
    return tuple(keys)


def _spell(names: Iterable[str], table: Table) -> tuple[str, ...]:
    """The names as the table spells them; empty when it lacks one."""
    spelled = {_fold(column.name): column.name for column in table.columns}
    found = [spelled.get(_fold(name)) for name in names]
    return tuple(name for name in found if name is not None) if None not in found else ()


def _fold(name: str) -> str:
    return fold_name(name, "sqlite")
