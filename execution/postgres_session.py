"""The transaction that every query on PostgreSQL runs in: read-only, limited, and never committed.

All settings are made in one statement inside the transaction, so that none of them outlives it and
a pooler between here and the server may hand out another connection each time. They fix what a
query may cost, and what values look like whatever the server's configuration says. Which names
money and months have (``lc_monetary``, ``lc_time``) is left alone: it belongs to the data.

Where the guard asks for it, the query runs as the role of its policies: the second wall.

Knows nothing of queries and results. What it does not cover: ``temp_file_limit``, which only a
superuser may set; it belongs on the role, and ``quorumsql doctor`` looks for it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import AsyncConnection, AsyncCursor, sql

from nl2sql.settings import LimitSettings
from nl2sql.types import SessionIdentity

# How long a query waits for somebody who changes the table.
_LOCK_TIMEOUT_MS = 2000
# The service never leaves a transaction alone this long, unless it is gone.
_IDLE_TIMEOUT_MS = 10_000
_TRANSACTION_TIMEOUT_SINCE = 170_000

# Under these the text of a value is the same on every server; the last two are how the guard reads
# string constants and `= NULL`.
_FIXED = (
    ("TimeZone", "UTC"),
    ("DateStyle", "ISO, MDY"),
    ("IntervalStyle", "postgres"),
    ("extra_float_digits", "1"),
    ("bytea_output", "hex"),
    ("standard_conforming_strings", "on"),
    ("transform_null_equals", "off"),
)


def build_settings(
    limits: LimitSettings, *, timeout_ms: int, search_path: Sequence[str], server_version: int
) -> tuple[tuple[str, str], ...]:
    """Names and values for one transaction whose first statement may take ``timeout_ms``.

    ``server_version`` is libpq's number: 180004 for 18.4.
    """
    settings = [
        ("statement_timeout", str(timeout_ms)),
        ("lock_timeout", str(_LOCK_TIMEOUT_MS)),
        ("idle_in_transaction_session_timeout", str(_IDLE_TIMEOUT_MS)),
        ("work_mem", f"{limits.work_mem_mib}MB"),
        *_FIXED,
    ]
    if server_version >= _TRANSACTION_TIMEOUT_SINCE:
        # It ends the connection, so it is the last to strike.
        longest = limits.explain_timeout_ms + limits.statement_timeout_ms + _IDLE_TIMEOUT_MS
        settings.append(("transaction_timeout", str(longest)))
    if search_path:
        path = ", ".join(sql.Identifier(name).as_string() for name in search_path)
        settings.append(("search_path", path))
    return tuple(settings)


async def apply_settings(
    connection: AsyncConnection[Any], settings: Iterable[tuple[str, str]]
) -> AsyncCursor[Any]:
    """Sets all until the end of the transaction. Raises psycopg.Error."""
    values = [text for pair in settings for text in pair]
    calls = ", ".join(f"set_config(${at}, ${at + 1}, true)" for at in range(1, len(values), 2))
    return await connection.execute(f"SELECT {calls}", values)


async def assume_identity(
    connection: AsyncConnection[Any], identity: SessionIdentity
) -> AsyncCursor[Any]:
    """Goes on as that role, with those settings, until the end of the transaction.

    The role comes last: it may not be allowed to make the settings. Raises psycopg.Error.
    """
    return await apply_settings(connection, (*identity.settings, ("role", identity.role)))
