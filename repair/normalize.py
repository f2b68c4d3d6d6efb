"""Reads a query as another dialect and writes it in the target's, by sqlglot.

Models mix dialects. A query that the target refuses may be good MySQL, SQLite or T-SQL.
"""

from __future__ import annotations

import sqlglot
from sqlglot.errors import ErrorLevel, SqlglotError

from nl2sql.sql_text import normal_form

# In the order in which small models stray.
_SOURCES = ("mysql", "sqlite", "tsql", "bigquery", "oracle")


def normalize_dialect(sql: str, target: str = "postgres") -> str | None:
    """The query in the target's dialect, or None when no other reading changes it.

    >>> normalize_dialect("SELECT `name` FROM `users`")
    'SELECT "name" FROM "users"'
    >>> normalize_dialect("SELECT name FROM users")
    """
    before = normal_form(sql, target)
    for source in _SOURCES:
        try:
            rendered = sqlglot.transpile(
                sql, read=source, write=target, unsupported_level=ErrorLevel.RAISE
            )
        except SqlglotError:
            continue
        if len(rendered) == 1 and normal_form(rendered[0], target) != before:
            return rendered[0]
    return None
