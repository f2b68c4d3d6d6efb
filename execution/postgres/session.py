"""The transaction that every query on PostgreSQL runs in: read-only, limited, and never committed.

All settings are made inside the transaction, so that none of them outlives it and a pooler between
here and the server may hand out another connection each time. They fix what a query may cost, and
what values look like whatever the server's configuration says. Which names money and months have
(``lc_monetary``, ``lc_time``) is left alone: it belongs to the data.

Each is a statement of its own, ``SET LOCAL``. The function ``set_config`` would make all of them in
one statement, but what a query can call can undo them: a database owner may take the function from
everybody, and the settings must be made all the same. ``SET`` is a statement, and neither a query
nor a part of one. They go in one message with the BEGIN before them, under the simple protocol,
which takes several statements: their text is of the settings file alone, nothing in it comes from a
question, a principal or a model. As messages of the extended protocol they cost ten times as much
processor time. What comes after them, the identity and the query, goes under the extended one.

Where the guard asks for it, the query runs as the role of its policies: row-level security.

Knows nothing of queries and results. What it does not cover: ``temp_file_limit``, which only a
superuser may set; it belongs on the role, and ``quorumsql doctor`` looks for it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from psycopg import AsyncConnection, sql

from nl2sql.settings import LimitSettings
from nl2sql.types import SessionIdentity

# How long a query waits for somebody who changes the table.
_LOCK_TIMEOUT_MS = 2000
# The service never leaves a transaction alone this long, unless it is gone.
_IDLE_TIMEOUT_MS = 10_000
_TRANSACTION_TIMEOUT_SINCE = 170_000

# A name and its value, or the elements of a list of names.
Setting = tuple[str, str | tuple[str, ...]]

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
) -> tuple[Setting, ...]:
    """Names and values for one transaction whose first statement may take ``timeout_ms``.

    ``server_version`` is libpq's number: 180004 for 18.4.
    """
    settings: list[Setting] = [
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
        settings.append(("search_path", tuple(search_path)))
    return tuple(settings)


def render_setting(setting: Setting) -> str:
    """The statement that makes the setting until the end of the transaction.

    >>> print(render_setting(("quorumsql.country", "it's")))
    SET LOCAL "quorumsql"."country" = 'it''s'
    >>> print(render_setting(("search_path", ("sales", "hr"))))
    SET LOCAL "search_path" = 'sales', 'hr'
    """
    name, value = setting
    values = (value,) if isinstance(value, str) else value
    return (
        sql.SQL("SET LOCAL {} = {}")
        .format(sql.Identifier(*name.split(".")), sql.SQL(", ").join(map(sql.Literal, values)))
        .as_string()
    )


@lru_cache(maxsize=256)
def render_beginning(settings: tuple[Setting, ...]) -> bytes:
    """The statements that open a read-only transaction with these settings.

    >>> print(render_beginning((("TimeZone", "UTC"), ("work_mem", "4MB"))).decode())
    BEGIN READ ONLY; SET LOCAL "TimeZone" = 'UTC'; SET LOCAL "work_mem" = '4MB'
    """
    return "; ".join(["BEGIN READ ONLY", *map(render_setting, settings)]).encode()


async def begin(connection: AsyncConnection[Any], settings: tuple[Setting, ...]) -> None:
    """Opens the transaction. Not inside a pipeline. Raises psycopg.Error, all or nothing done."""
    await connection.execute(render_beginning(settings))


async def apply_settings(connection: AsyncConnection[Any], settings: Iterable[Setting]) -> None:
    """Sets all until the end of the transaction. Raises psycopg.Error."""
    for setting in settings:
        await connection.execute(render_setting(setting).encode())


async def assume_identity(connection: AsyncConnection[Any], identity: SessionIdentity) -> None:
    """Goes on as that role, with those settings, until the end of the transaction.

    The role comes last: it may not be allowed to make the settings. Raises psycopg.Error.
    """
    await apply_settings(connection, (*identity.settings, ("role", identity.role)))
