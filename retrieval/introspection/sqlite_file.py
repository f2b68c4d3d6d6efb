"""An SQLite file as a ``SourceDatabase``: its tables and views, all in the schema ``main``.

A view's columns have types only if SQLite can derive them; there are no comments. Left out and
listed in ``Catalog.skipped``: virtual tables (a module computes their rows), names that are not
UTF-8, and foreign keys and views that refer to missing tables or columns. Left out silently:
SQLite's internal tables, the shadow tables of virtual tables, hidden columns.

A column's declared type is only a hint, so each value's type is checked when values are read:
numbers in a text column are left out. A change is recognised by the file's modification time and
size.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from nl2sql.catalog import Catalog, Column, ForeignKey, Skipped, Table
from nl2sql.errors import DatabaseUnavailable
from nl2sql.file_advice import advise_sqlite
from nl2sql.sql.column_kinds import Kind
from nl2sql.sql.names import build_sqlite_uri, fold_name
from nl2sql.sql.parsing import read_tokens
from retrieval.introspection.assembly import assemble_catalog, find_reads
from retrieval.introspection.source_database import FileSource, Unreadable

_SCHEMA = "main"

_TABLES = r"""
SELECT t.name, t.type, coalesce(s.sql, '')
  FROM pragma_table_list t LEFT JOIN sqlite_master s ON s.name = t.name AND s.type = t.type
 WHERE t.schema = 'main' AND t.type IN ('table', 'view', 'virtual')
   AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\'
 ORDER BY t.name
"""

_COLUMNS = """
SELECT name, type, "notnull", pk, hidden > 1 FROM pragma_table_xinfo(?, 'main')
 WHERE hidden <> 1 ORDER BY cid
"""

_FOREIGN_KEYS = """
SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?, 'main') ORDER BY id, seq
"""

_NAME = r"""(?:"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[\w$]+)"""
# No match if the view names its columns.
_VIEW = re.compile(
    rf"""\s*CREATE\s+(?:TEMP\w*\s+)?VIEW\s+(?:IF\s+NOT\s+EXISTS\s+)?(?:{_NAME}\s*\.\s*)?{_NAME}\s*
    \bAS\b(?P<query>.+)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)

_INSTRUCTIONS_PER_CHECK = 50_000

# Replaces bytes that are not UTF-8: a query cannot use such a name.
_UNREADABLE = "\ufffd"


class SqliteSource(FileSource[sqlite3.Connection]):
    """The file at ``path``."""

    errors = sqlite3.Error
    # Boolean columns often hold words.
    dialect, kinds, log = "sqlite", frozenset[Kind](("", "text", "enum", "boolean")), "-wal"

    def read_catalog(self) -> Catalog:
        """See ``SourceDatabase``."""
        return read_sqlite_catalog(self._path, database=self._database)

    def _connect(self) -> sqlite3.Connection:
        return open_sqlite_file(self._path)

    def fetch(self, query: str, timeout_ms: int) -> list[tuple[Any, ...]] | Unreadable:
        """See ``SourceDatabase``."""
        deadline = time.monotonic() + timeout_ms / 1000
        self._open.set_progress_handler(
            lambda: time.monotonic() > deadline, _INSTRUCTIONS_PER_CHECK
        )
        try:
            return self._open.execute(query).fetchall()
        except sqlite3.Error as error:
            if time.monotonic() > deadline:
                return Unreadable(f"took longer than {timeout_ms} ms", timed_out=True)
            return Unreadable(str(error))

    def _write_condition(self, column: str) -> str:
        return f"typeof({column}) = 'text' AND "


def open_sqlite_file(path: Path) -> sqlite3.Connection:
    """A read-only connection for one thread at a time; replaces bytes that are not UTF-8.

    Raises sqlite3.Error.
    """
    connection = sqlite3.connect(build_sqlite_uri(path), uri=True, check_same_thread=False)
    try:
        connection.text_factory = lambda text: text.decode(errors="replace")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def read_sqlite_catalog(path: Path, *, database: str) -> Catalog:
    """The catalog of the file at ``path``, opened read-only. Raises DatabaseUnavailable."""
    skipped: list[Skipped] = []
    try:
        with closing(open_sqlite_file(path)) as connection:
            found = connection.execute(_TABLES).fetchall()
            read = [_read_table(connection, name, kind, sql, skipped) for name, kind, sql in found]
            tables = [table for table in read if table is not None]
            keys = [key for table in tables for key in _read_keys(connection, table.name)]
    except sqlite3.Error as error:
        raise DatabaseUnavailable(
            f"Cannot read the schema of {path}: {error}.",
            database=database,
            hint=advise_sqlite(path),
        ) from error
    return assemble_catalog(
        database, "sqlite", tables, keys, search_path=(_SCHEMA,), skipped=skipped
    )


def _read_table(
    connection: sqlite3.Connection, name: str, kind: str, sql: str, skipped: list[Skipped]
) -> Table | None:
    """The table; None, with an entry in ``skipped``, if it is unusable. Raises sqlite3.Error."""
    qualified = f"{_SCHEMA}.{name}"
    if _UNREADABLE in name:
        skipped.append(Skipped(kind, qualified, "its name is not UTF-8"))
        return None
    if kind == "virtual":
        skipped.append(Skipped("virtual table", qualified, "a module computes its rows"))
        return None
    try:
        rows = connection.execute(_COLUMNS, (name,)).fetchall()
    except sqlite3.OperationalError as error:
        if kind != "view":
            raise
        skipped.append(Skipped(kind, qualified, "it does not work", str(error)))
        return None
    names = [row[0] for row in rows]
    unreadable = [row[0] for row in rows if _UNREADABLE in row[0]]
    skipped += [
        Skipped("column", f"{qualified}.{column}", "its name is not UTF-8") for column in unreadable
    ]
    columns = tuple(
        Column(
            name=column,
            type=declared,
            nullable=not not_null,
            reads=find_reads(_find_expression(sql, column), names) if is_generated else (),
        )
        for column, declared, not_null, _, is_generated in rows
        if column not in unreadable
    )
    if not columns:
        skipped.append(Skipped(kind, qualified, "it has no columns"))
        return None
    key = [column for position, column in sorted((row[3], row[0]) for row in rows) if position]
    return Table(
        schema=_SCHEMA,
        name=name,
        columns=columns,
        primary_key=() if set(key) & set(unreadable) else tuple(key),
        kind=kind,
        # Only the view's name precedes the first AS, so no string or comment there contains one.
        definition=found["query"] if (found := _VIEW.match(sql)) else "",
    )


def _find_expression(sql: str, column: str) -> str:
    """What CREATE TABLE says of the column after its name; all of ``sql`` if that is not found."""
    parts: list[list[Token]] = []
    depth = 0
    try:
        for token in read_tokens(sql, "sqlite"):
            kind = token.token_type
            depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
            if depth == 1 and kind in (TokenType.L_PAREN, TokenType.COMMA):
                parts.append([])
            elif parts:
                parts[-1].append(token)
    except SqlglotError:
        return sql
    for name, *rest in filter(None, parts):
        if rest and fold_name(name.text, "sqlite") == fold_name(column, "sqlite"):
            return sql[rest[0].start : rest[-1].end + 1]
    return sql


def _read_keys(connection: sqlite3.Connection, table: str) -> Iterator[ForeignKey]:
    """The keys of a table; without columns of its target, one refers to the primary key."""
    rows = connection.execute(_FOREIGN_KEYS, (table,)).fetchall()
    for number, pairs in groupby(rows, key=itemgetter(0)):
        _, targets, columns, named = zip(*pairs, strict=True)
        yield ForeignKey(
            f"{table}_{number}",
            f"{_SCHEMA}.{table}",
            columns,
            f"{_SCHEMA}.{targets[0]}",
            tuple(name for name in named if name is not None),
        )
