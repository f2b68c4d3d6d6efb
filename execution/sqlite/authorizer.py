"""Decides what SQLite may do for one statement; SQLite asks while it compiles the text.

The third check of a query, independent of the guard: SQLite reports every table, column and
function that *its* parser found. A statement may read the tables and columns that its
``GuardedQuery`` names, and what the views among them read; it may call the allowlist's functions,
and those that the views call. Everything else is denied, in particular ATTACH, PRAGMA and the
schema tables.

A CTE of which no column is read is reported like a table; one with the name of a table that the
statement may not read is denied with it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping

from execution.allowlists import load_allowlist
from nl2sql.sql.names import fold_name

_Name = str | None
Authorizer = Callable[[int, _Name, _Name, _Name, _Name], int]

_SCHEMA = "main"
_HARMLESS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE})
# Prefixes of tables that exist without being listed in the schema.
_RESERVED = ("sqlite_", "pragma_")
# Functions in FROM, whose columns SQLite reads like a table's.
_TABLE_FUNCTIONS = frozenset({"json_each", "json_tree"})


def build_authorizer(
    connection: sqlite3.Connection, tables: Iterable[str], columns: Collection[str] | None = None
) -> Authorizer:
    """The authorizer for a statement on ``tables``, which are qualified names.

    ``columns`` are qualified and folded: those of the tables that it may read; None means all.

    ``connection`` must not have an authorizer yet: its schema is read. Raises sqlite3.Error.
    """
    schema = connection.execute(
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view')"
    ).fetchall()
    known = {_fold(name) for name, _ in schema}
    views = {_fold(name): name for name, kind in schema if kind == "view"}
    readable = {_fold(name.partition(".")[2]) for name in tables}
    # Each with the view that reads it; the statement itself has no name.
    readable_columns = {("", name.partition(".")[2]) for name in columns or ()}
    # A table with the same name would take precedence.
    functions = _TABLE_FUNCTIONS - known
    for name in functions:
        # SQLite makes them when a connection first names them, which no authorizer lets it do.
        connection.execute(f"SELECT 1 FROM {name}(NULL)").close()
    readable |= functions
    callable_ = set(load_allowlist("sqlite").functions)
    for folded in readable & views.keys():
        read, called = _record_view(connection, views, folded)
        readable |= {table for _, table, _ in read}
        readable_columns |= {(view, f"{table}.{column}") for view, table, column in read}
        callable_ |= called

    def authorize(action: int, first: _Name, second: _Name, schema: _Name, around: _Name) -> int:
        if action == sqlite3.SQLITE_READ:
            name = _fold(first or "")
            if second == "" and schema is None and name not in known:
                # A CTE of which no column is read, as in count(*).
                allowed = not name.startswith(_RESERVED)
            else:
                allowed = schema in (_SCHEMA, None) and name in readable
                # No column is read if rows are only counted.
                if columns is not None and name not in functions and second:
                    read = (views.get(_fold(around or ""), ""), f"{name}.{_fold(second)}")
                    allowed = allowed and read in readable_columns
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = second is not None and second.lower() in callable_
        else:
            allowed = action in _HARMLESS
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    return authorize


def _record_view(
    connection: sqlite3.Connection, views: Mapping[str, str], folded: str
) -> tuple[set[tuple[str, str, str]], set[str]]:
    """What a view reads, as view, table and column, and the functions that it calls, all folded."""
    read: set[tuple[str, str, str]] = set()
    called: set[str] = set()

    def record(action: int, first: _Name, second: _Name, schema: _Name, around: _Name) -> int:
        if action == sqlite3.SQLITE_READ:
            read.add((views.get(_fold(around or ""), ""), _fold(first or ""), _fold(second or "")))
        elif action == sqlite3.SQLITE_FUNCTION:
            called.add((second or "").lower())
        return sqlite3.SQLITE_OK if action in _VIEW_ACTIONS else sqlite3.SQLITE_DENY

    connection.set_authorizer(record)
    try:
        escaped = views[folded].replace("`", "``")
        connection.execute(f"EXPLAIN SELECT * FROM {_SCHEMA}.`{escaped}`").close()
    finally:
        connection.set_authorizer(None)
    # A view must not give access to the schema tables.
    return {found for found in read if not found[1].startswith(_RESERVED)}, called


_VIEW_ACTIONS = _HARMLESS | {sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}


def _fold(name: str) -> str:
    return fold_name(name, "sqlite")
