"""The statements that open a DuckDB file for reading, and its errors, without the driver.

The file is attached READ_ONLY to an in-memory instance under a fixed name: opened directly, it
would be named after the file, and ``sales.orders`` in ``sales.duckdb`` would be ambiguous. Then
access to other files, the network and extensions is disabled and the configuration is locked,
which DuckDB cannot undo.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

# The catalog under which the file is attached.
ATTACHED = "quorumsql"

# The configuration of an instance, besides its limits.
CLOSED_CONFIG: dict[str, str] = {
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "allow_unsigned_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "catalog_error_max_schemas": "0",
    "errors_as_json": "true",
    # What does not fit into memory is an error, not a temporary file.
    "max_temp_directory_size": "0B",
    "python_enable_replacements": "false",
    "temp_directory": "",
}


def read_duckdb_error(error: Exception) -> dict[str, Any]:
    """The JSON in DuckDB's message, after the name of the class; otherwise its plain text.

    >>> read_duckdb_error(ValueError("IO Error: no such file"))
    {'exception_message': 'no such file'}
    """
    text = str(error)
    with suppress(ValueError):
        told = json.loads(text[text.find("{") :])
        if isinstance(told, dict) and isinstance(told.get("exception_message"), str):
            return told
    return {"exception_message": re.sub(r"^[\w ]+ Error: ", "", text)}


def describe_duckdb_error(error: Exception) -> str:
    """The first line of DuckDB's message."""
    message: str = read_duckdb_error(error)["exception_message"]
    return message.partition("\n")[0]


_NAME = r'(?:"(?:[^"]|"")*"|[^\s".(),;]+)'
_VIEW_HEADER = re.compile(
    rf"^CREATE VIEW {_NAME}(?:\.{_NAME})*(?: \({_NAME}(?:, {_NAME})*\))? AS ", re.IGNORECASE
)


def build_duckdb_opening(path: Path) -> tuple[str, ...]:
    """The statements that attach the file and then disable all other access, in order.

    >>> build_duckdb_opening(Path("/data/it's.duckdb"))[0]
    "ATTACH '/data/it''s.duckdb' AS quorumsql (TYPE duckdb, READ_ONLY)"
    """
    file = str(path.absolute()).replace("'", "''")
    return (
        # Without TYPE, the first bytes of the file would choose an extension.
        f"ATTACH '{file}' AS {ATTACHED} (TYPE duckdb, READ_ONLY)",
        "SET GLOBAL TimeZone = 'UTC'",
        "SET GLOBAL enable_external_access = false",
        "SET GLOBAL lock_configuration = true",
    )


def extract_view_query(sql: str) -> str:
    """The query in a CREATE VIEW statement as ``duckdb_views()`` renders it.

    >>> extract_view_query('CREATE VIEW s."a AS b" (x, "y z") AS SELECT 1, 2;')
    'SELECT 1, 2'
    """
    return _VIEW_HEADER.sub("", sql, count=1).rstrip("; \n")
