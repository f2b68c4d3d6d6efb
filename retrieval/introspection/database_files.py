"""Recognises changes of a database file."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress
from pathlib import Path

import duckdb

from nl2sql.duckdb_files import ATTACHED, CLOSED_CONFIG, build_duckdb_opening
from nl2sql.sql.names import build_sqlite_uri


def read_file_mark(path: Path, *suffixes: str) -> str:
    """Modification time and size of the file and of its logs; empty if it cannot be read."""
    found = []
    for file in (path, *(path.with_name(path.name + suffix) for suffix in suffixes)):
        try:
            status = file.stat()
        except OSError:
            if file == path:
                return ""
            continue
        found.append(f"{status.st_mtime_ns} {status.st_size}")
    return ", ".join(found)


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


def open_duckdb_file(path: Path, *, memory: str = "") -> duckdb.DuckDBPyConnection:
    """An instance without external access that uses the file, attached read-only as ``ATTACHED``.

    ``memory`` is its limit (``512MB``; empty: DuckDB's default). Raises duckdb.Error.
    """
    limit = {"memory_limit": memory} if memory else {}
    connection = duckdb.connect(":memory:", config={**CLOSED_CONFIG, **limit})
    try:
        for statement in build_duckdb_opening(path):
            connection.execute(statement)
        connection.execute(f"USE {ATTACHED}")
    except duckdb.Error:
        connection.close()
        raise
    return connection


def describe_duckdb_error(error: duckdb.Error) -> str:
    """The first line of DuckDB's message, which may be JSON after the name of its class."""
    text = str(error)
    with suppress(ValueError, KeyError, TypeError):
        text = str(json.loads(text[text.find("{") :])["exception_message"])
    return text.partition("\n")[0]
