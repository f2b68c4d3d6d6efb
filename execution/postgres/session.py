"""The transaction in which every query on PostgreSQL runs, and its role: neither can write.

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

The check of the role does not see functions that run with the rights of their owner (SECURITY
DEFINER), which the guard's allowlist excludes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import AsyncConnection, sql

from nl2sql.connection_failures import explain_failure
from nl2sql.errors import DatabaseUnavailable, InsecureRole
from nl2sql.settings import LimitSettings
from nl2sql.types import SessionIdentity

_CONNECT_TIMEOUT_S = 5

# Every role of which the login is a member counts: a query may run as one of them.
_RIGHTS = """
SELECT bool_or(r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls)
       OR pg_has_role(current_user, 'pg_execute_server_program', 'MEMBER')
       OR pg_has_role(current_user, 'pg_read_server_files', 'MEMBER')
       OR pg_has_role(current_user, 'pg_write_server_files', 'MEMBER'),
       (SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
           AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
           AND (pg_has_role(c.relowner, 'MEMBER')
                OR EXISTS (
                   SELECT FROM pg_roles m
                    WHERE pg_has_role(current_user, m.oid, 'MEMBER')
                      AND (has_table_privilege(m.oid, c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
                           OR has_any_column_privilege(m.oid, c.oid, 'INSERT, UPDATE')))))
  FROM pg_roles r WHERE pg_has_role(current_user, r.oid, 'MEMBER')
"""


async def check_role(connection: AsyncConnection[Any], database: str) -> None:
    """Raises InsecureRole if the role could do more than read, psycopg.Error."""
    row = await (await connection.execute(_RIGHTS)).fetchone()
    powerful, writable = row or (True, 0)
    if powerful or writable:
        raise InsecureRole(
            f"The role {connection.info.user!r} of the database {database!r} could do more than "
            f"read ({'special rights' if powerful else f'{writable} tables'}).",
            hint="Queries run only under a role that may SELECT and nothing else; "
            "`quorumsql doctor` prints the statements that create one.",
        )


@contextmanager
def open_connection(url: str, database: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection for checks and changes of the database, apart from any query.

    Raises DatabaseUnavailable, also instead of a psycopg.Error inside the block.
    """
    try:
        with psycopg.connect(url, connect_timeout=_CONNECT_TIMEOUT_S) as connection:
            yield connection
    except psycopg.Error as error:
        # What failed to connect has no SQLSTATE.
        said = "" if error.sqlstate else explain_failure(error)
        raise DatabaseUnavailable(
            f"The database {database!r} does not answer.", database=database, said=said
        ) from error


def find_missing_limits(url: str, database: str) -> tuple[str, ...]:
    """The limits that must be set on the role and are not: ``("temp_file_limit",)`` or none.

    Raises DatabaseUnavailable.
    """
    with open_connection(url, database) as connection:
        row = connection.execute("SELECT current_setting('temp_file_limit')").fetchone()
    return ("temp_file_limit",) if row == ("-1",) else ()


# A trigger function can only be called by its trigger.
_DEFINERS = """
SELECT format('%%I.%%I(%%s)', n.nspname, p.proname, oidvectortypes(p.proargtypes))
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
 WHERE p.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema')
   AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
   AND EXISTS (
       SELECT FROM pg_roles m
        WHERE pg_has_role(%(login)s, m.oid, 'MEMBER')
          AND has_function_privilege(m.oid, p.oid, 'EXECUTE')
          AND has_schema_privilege(m.oid, n.oid, 'USAGE'))
 ORDER BY 1
"""


def find_definers(url: str, login: str, database: str) -> tuple[str, ...]:
    """The SECURITY DEFINER functions that ``login``, or a role that it may assume, may execute.

    They are spelled for REVOKE, with the types of their arguments. Raises DatabaseUnavailable.
    """
    with open_connection(url, database) as connection:
        connection.execute("SET LOCAL search_path = ''")
        found = connection.execute(_DEFINERS, {"login": login}).fetchall()
    return tuple(name for (name,) in found)


# How long a query waits for a table that is being changed.
_LOCK_TIMEOUT_MS = 2000
# The service never leaves a transaction idle for this long, unless it has died.
_IDLE_TIMEOUT_MS = 10_000
# Beyond it, PostgreSQL sorts on disk.
_WORK_MEM = "32MB"
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


# An index is still searched, but for rows in the order in which they are stored.
WITHOUT_INDEX_ORDER = (("enable_indexscan", "off"), ("enable_indexonlyscan", "off"))


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
        ("work_mem", _WORK_MEM),
        *_FIXED,
    ]
    if server_version >= _TRANSACTION_TIMEOUT_SINCE:
        # It ends the connection, so it must be the last to act.
        longest = 2 * limits.statement_timeout_ms + _IDLE_TIMEOUT_MS
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
    """The statements that open a read-only transaction with these settings, outside any pipeline.

    >>> print(render_beginning((("TimeZone", "UTC"), ("work_mem", "4MB"))).decode())
    BEGIN READ ONLY; SET LOCAL "TimeZone" = 'UTC'; SET LOCAL "work_mem" = '4MB'
    """
    return "; ".join(["BEGIN READ ONLY", *map(render_setting, settings)]).encode()


async def apply_settings(connection: AsyncConnection[Any], settings: Iterable[Setting]) -> None:
    """Makes the settings until the end of the transaction. Raises psycopg.Error."""
    for setting in settings:
        await connection.execute(render_setting(setting).encode())


async def assume_identity(connection: AsyncConnection[Any], identity: SessionIdentity) -> None:
    """Assumes the role, with its settings, until the end of the transaction.

    The role comes last, since it may lack the right to make the settings. Raises psycopg.Error.
    """
    await apply_settings(connection, (*identity.settings, ("role", identity.role)))
