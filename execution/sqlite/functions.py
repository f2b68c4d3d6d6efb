"""The keyed hash that wrappers use, which SQLite lacks. Queries may not call it themselves."""

from __future__ import annotations

import hashlib
import sqlite3

HASH_FUNCTION = "quorumsql_hash"


def add_functions(connection: sqlite3.Connection) -> None:
    """Registers the functions on a connection. Raises sqlite3.Error."""
    connection.create_function(HASH_FUNCTION, 2, hash_value, deterministic=True)


def hash_value(key: str, value: object) -> str | None:
    """SHA-256 of the key and the value as text, in hexadecimal; None for None.

    >>> hash_value("pepper", 7) == hashlib.sha256(b"pepper7").hexdigest()
    True
    """
    if value is None:
        return None
    text = value if isinstance(value, bytes) else str(value).encode()
    return hashlib.sha256(key.encode() + text).hexdigest()
