"""Opens SQLite and DuckDB files for reading: for their schema, their values and samples of rows.

Nothing can be written through these connections, and a DuckDB instance reaches no other file. How a
question's query runs on a file is another matter, with more restrictions: ``execution`` has it.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import duckdb

from nl2sql.duckdb_files import ATTACHED, CLOSED_CONFIG, build_duckdb_opening
from nl2sql.sql.names import build_sqlite_uri


def open_sqlite_file(path: Path) -> sqlite3.Connection:
    """A read-only connection for any one thread at a time; odd bytes in texts are replaced.

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
    """A closed instance with the file attached read-only, and in use, under ``ATTACHED``.

    ``memory`` is its limit (``512MB``; empty: DuckDB's own). Raises duckdb.Error.
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
    """The first line of what DuckDB says, which comes as JSON behind the name of its class."""
    text = str(error)
    try:
        told = json.loads(text[text.find("{") :])
        text = str(told["exception_message"])
    except (ValueError, KeyError, TypeError):
        pass
    return text.partition("\n")[0]
