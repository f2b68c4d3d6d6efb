"""Checks that the role that queries run under can only read.

Knows PostgreSQL's catalog of rights. Does not check functions that run with the rights of their
owner (SECURITY DEFINER), which the guard's allowlist excludes.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import AsyncConnection

from nl2sql.errors import DatabaseUnavailable, InsecureRole

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


def find_missing_limits(url: str, database: str) -> tuple[str, ...]:
    """The limits that must be set on the role and are not: ``("temp_file_limit",)`` or none.

    Raises DatabaseUnavailable.
    """
    try:
        with psycopg.connect(url, connect_timeout=_CONNECT_TIMEOUT_S) as connection:
            row = connection.execute("SELECT current_setting('temp_file_limit')").fetchone()
    except psycopg.Error as error:
        raise DatabaseUnavailable(
            f"The database {database!r} does not answer.", database=database
        ) from error
    return ("temp_file_limit",) if row == ("-1",) else ()
