"""How a DuckDB file is opened for reading, and how its views read: the words, without the driver.

The file is attached READ_ONLY to an instance in memory, under a fixed name: opened directly it
would be called after itself, and ``sales.orders`` in ``sales.duckdb`` could be meant in two ways.
Then access to any other file, to the network and to extensions is closed and the configuration
locked, which DuckDB never takes back.
"""

from __future__ import annotations

import re
from pathlib import Path

# The catalog under which the file is attached.
ATTACHED = "quorumsql"

# What an instance is made with, besides its limits.
CLOSED_CONFIG: dict[str, str] = {
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",
    "allow_unsigned_extensions": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "catalog_error_max_schemas": "0",
    "errors_as_json": "true",
    # What does not fit into memory is an error, and no file.
    "max_temp_directory_size": "0B",
    "python_enable_replacements": "false",
    "temp_directory": "",
}

_NAME = r'(?:"(?:[^"]|"")*"|[^\s".(),;]+)'
_VIEW_HEADER = re.compile(
    rf"^CREATE VIEW {_NAME}(?:\.{_NAME})*(?: \({_NAME}(?:, {_NAME})*\))? AS ", re.IGNORECASE
)


def build_duckdb_opening(path: Path) -> tuple[str, ...]:
    """The statements that attach the file and then close everything else, in their order.

    >>> build_duckdb_opening(Path("/data/it's.duckdb"))[0]
    "ATTACH '/data/it''s.duckdb' AS quorumsql (TYPE duckdb, READ_ONLY)"
    """
    file = str(path.absolute()).replace("'", "''")
    return (
        # The type is named, or the first bytes of the file would choose an extension.
        f"ATTACH '{file}' AS {ATTACHED} (TYPE duckdb, READ_ONLY)",
        "SET GLOBAL TimeZone = 'UTC'",
        "SET GLOBAL enable_external_access = false",
        "SET GLOBAL lock_configuration = true",
    )


def extract_view_query(sql: str) -> str:
    """The query in a CREATE VIEW as ``duckdb_views()`` gives it, whatever the user wrote.

    >>> extract_view_query('CREATE VIEW s."a AS b" (x, "y z") AS SELECT 1, 2;')
    'SELECT 1, 2'
    """
    return _VIEW_HEADER.sub("", sql, count=1).rstrip("; \n")
