"""The transaction in which every query on PostgreSQL runs: read-only, limited, never committed.

All settings are made inside the transaction, so that they end with it and a pooler between here and
the server may use another connection each time. They limit what a query may cost, and fix how
values are written, whatever the server's configuration. The names of currencies and months
(``lc_monetary``, ``lc_time``) are not set: they belong to the data.

Each setting is a separate statement, ``SET LOCAL``. The function ``set_config`` could make all of
them in one statement, but a query that can call it can undo them: a database owner may revoke the
function from PUBLIC, and the settings must still be made. ``SET`` cannot be part of a query. The
statements are sent in one message with the BEGIN before them, under the simple protocol, which
allows several statements: their text depends only on the settings file, not on a question, a
principal or a model. As messages of the extended protocol they would cost ten times as much
processor time. The identity and the query are sent under the extended protocol.

With row-level security, the query runs as the role of the principal's policies.

Knows nothing of queries and results. Does not set ``temp_file_limit``, which only a superuser may
set; it belongs on the role, where ``quorumsql doctor`` checks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from psycopg import AsyncConnection, sql

from nl2sql.settings import LimitSettings
from nl2sql.types import SessionIdentity

# How long a query waits for a table that is being changed.
_LOCK_TIMEOUT_MS = 2000
# The service never leaves a transaction idle for this long, unless it has died.
_IDLE_TIMEOUT_MS = 10_000
_TRANSACTION_TIMEOUT_SINCE = 170_000

# A name and its value, or the elements of a list of names.
Setting = tuple[str, str | tuple[str, ...]]

# These make the text of a value the same on every server; the last two are how the guard reads
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
        # It ends the connection, so it must be the last to act.
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
    """Opens the transaction, outside any pipeline. Raises psycopg.Error; then nothing was done."""
    await connection.execute(render_beginning(settings))


async def apply_settings(connection: AsyncConnection[Any], settings: Iterable[Setting]) -> None:
    """Makes the settings until the end of the transaction. Raises psycopg.Error."""
    for setting in settings:
        await connection.execute(render_setting(setting).encode())


async def assume_identity(connection: AsyncConnection[Any], identity: SessionIdentity) -> None:
    """Assumes the role, with its settings, until the end of the transaction.

    The role comes last, since it may lack the right to make the settings. Raises psycopg.Error.
    """
    await apply_settings(connection, (*identity.settings, ("role", identity.role)))
