"""Applies row-level security to a PostgreSQL database, removes it, and checks that it is applied.

Everything runs in one transaction, so row-level security is applied completely or not at all.

Knows nothing of policy files. Does not cover tables that are created later: apply again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors

from execution.policies.row_level_security.blocks import (
    GROUP_COMMENT,
    INDEX_COMMENT,
    MEMBERS,
    OTHERS,
    ScriptStatement,
    build_removal,
    name_group,
    name_index_role,
)
from execution.policies.row_level_security.ddl import RowSecurity
from execution.postgres.session import open_connection
from nl2sql.errors import DatabaseUnavailable, QuorumError
from nl2sql.sql.names import quote_literal

# Creating a policy locks its table; a query that reads the table for longer than this makes the
# change fail.
_LOCK_TIMEOUT_MS = 10_000

# The rights that the login lacks, and tables whose security is not of a policy file.
_RIGHTS = "SELECT rolname, rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user"
_RELATION = """
SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
"""
_WANTED = f"{_RELATION} WHERE n.nspname || '.' || c.relname = ANY (%s)"
_NOT_OWNED = f"{_WANTED} AND NOT pg_has_role(c.relowner, 'USAGE') ORDER BY 1"
_CLOSED_SCHEMAS = """
SELECT quote_ident(n.nspname) FROM pg_namespace n
 WHERE n.nspname = ANY (%s) AND NOT pg_has_role(n.nspowner, 'USAGE')
   AND NOT has_schema_privilege(n.oid, 'USAGE WITH GRANT OPTION')
   AND NOT EXISTS (SELECT FROM aclexplode(n.nspacl) a
                    WHERE a.grantee = 0 AND a.privilege_type = 'USAGE') ORDER BY 1
"""
_FOREIGN = f"""{_WANTED}
   AND (c.relrowsecurity OR c.relforcerowsecurity
        OR EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid))
   AND NOT EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = %s)
 ORDER BY 1
"""
_UNGUARDED = f"{_WANTED} AND NOT c.relrowsecurity ORDER BY 1"
# The tables that the reader may read without assuming one of the roles; the parameter decides
# whether those that PUBLIC may read count.
_READABLE = f"""{_RELATION}
 WHERE n.nspname = ANY (%s) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
"""
_OWN_SELECT = f"""{_READABLE}
   AND has_any_column_privilege(%s, c.oid, 'SELECT')
   AND (%s OR NOT has_any_column_privilege('public', c.oid, 'SELECT')) ORDER BY 1
"""
_INDEX_ROLE = """
SELECT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = %s
                AND starts_with(shobj_description(r.oid, 'pg_authid'), %s))
"""
# A right of PUBLIC cannot be withheld from the roles.
_PUBLIC = f"{_READABLE} AND has_any_column_privilege('public', c.oid, 'SELECT') ORDER BY 1"


def find_index_role(url: str, database: str) -> str:
    """Returns the role that reads for the index; empty if row-level security is not applied.

    Raises DatabaseUnavailable.
    """
    role = name_index_role(database)
    with _open(url, database) as connection:
        row = connection.execute(_INDEX_ROLE, (role, f"{INDEX_COMMENT}{database}: ")).fetchone()
    return role if row == (True,) else ""


def apply_row_security(url: str, security: RowSecurity) -> tuple[str, ...]:
    """Runs the statements under the login of ``url``; returns warnings.

    Raises DatabaseUnavailable, also if a table stays in use for ten seconds, and QuorumError that
    names the missing right.
    """
    with _open(url, security.database) as connection:
        _check_rights(connection, security)
        notices = _collect_notices(connection)
        _run(connection, security.script)
        if public := _list(connection, _PUBLIC, list(security.schemas)):
            notices.append(f"PUBLIC may read {public}, and so may every role: revoke that")
        if own := _list(connection, _OWN_SELECT, list(security.withdrawn), security.reader, False):
            notices.append(
                f"{security.reader} may still read {own}, by another role or another owner's "
                "grant: revoke that"
            )
        connection.commit()
    return tuple(notices)


def remove_row_security(url: str, database: str) -> tuple[str, ...]:
    """Undoes ``apply_row_security``: removes what is in the database, whatever the policy says now.

    Returns warnings; raises the same errors as ``apply_row_security``.
    """
    with _open(url, database) as connection:
        notices = _collect_notices(connection)
        _run(connection, build_removal(database))
        connection.commit()
    return tuple(notices)


def check_applied(url: str, security: RowSecurity) -> str:
    """Returns what is wrong with row-level security in the database; empty if nothing is.

    Works under any login. Does not compare each policy and grant: the roles may do what somebody
    granted them since. Raises DatabaseUnavailable.
    """
    with _open(url, security.database) as connection:
        row = connection.execute(
            "SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = %s",
            (security.group,),
        ).fetchone()
        comment = (row[0] or "") if row else ""
        members = MEMBERS.format(group=quote_literal(name_group(security.database)))
        members = members.replace("%", "%%")
        missing = connection.execute(
            f"SELECT unnest(%s::text[]) EXCEPT SELECT rolname FROM ({members}) AS member"
            " ORDER BY 1",
            (list(security.roles),),
        ).fetchall()
        inherits = connection.execute(
            f"SELECT rolname FROM ({members}) AS member WHERE pg_has_role(%s, oid, 'USAGE')",
            (security.reader,),
        ).fetchall()
        own = _list(connection, _OWN_SELECT, list(security.withdrawn), security.reader, True)
        unguarded = _list(connection, _UNGUARDED, list(security.guarded))
    if not comment.startswith(f"{GROUP_COMMENT}{security.database}:"):
        return f"The policy of {security.database} was never applied to it."
    if f"statements {security.digest}" not in comment:
        return f"What was applied to {security.database} is not what its policy says now."
    if unguarded:
        return f"Row-level security is switched off on {unguarded} of {security.database}."
    if missing:
        return f"The role {missing[0][0]} of {security.database} is missing."
    if inherits:
        return f"{security.reader} has the rights of {inherits[0][0]} without becoming it."
    if own:
        return f"{security.reader} may read {own} without becoming a role of {security.database}."
    return ""


@contextmanager
def _open(url: str, database: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection whose transaction is rolled back unless it is committed inside."""
    with open_connection(url, database) as connection:
        try:
            yield connection
        except psycopg.Error as error:
            raise _translate(error, connection, database) from error
        finally:
            connection.rollback()


def _run(connection: psycopg.Connection[Any], statements: Sequence[ScriptStatement]) -> None:
    connection.execute(f"SET LOCAL lock_timeout = {_LOCK_TIMEOUT_MS:d}".encode())
    for statement in statements:
        if statement.text:
            connection.execute(statement.text.encode())


def _collect_notices(connection: psycopg.Connection[Any]) -> list[str]:
    notices: list[str] = []

    def collect(diagnostic: errors.Diagnostic) -> None:
        # DROP … IF EXISTS that finds nothing gives only a NOTICE.
        if diagnostic.severity_nonlocalized == "WARNING":
            notices.append(diagnostic.message_primary or "")

    connection.add_notice_handler(collect)
    return notices


def _check_rights(connection: psycopg.Connection[Any], security: RowSecurity) -> None:
    row = connection.execute(_RIGHTS).fetchone()
    name, makes_roles = row or ("?", False)
    problems = []
    if not makes_roles:
        problems.append("create roles (CREATEROLE)")
    if not_owned := _list(connection, _NOT_OWNED, list(security.owned)):
        problems.append(f"change {not_owned}, which it does not own")
    if closed := _list(connection, _CLOSED_SCHEMAS, list(security.schemas)):
        problems.append(f"grant the use of the schemas {closed}")
    if problems:
        raise QuorumError(
            f"{name} may not {'; nor '.join(problems)}.", hint=_render_hint(security.database)
        )
    if foreign := _list(connection, _FOREIGN, list(security.guarded), OTHERS):
        raise QuorumError(
            f"Row-level security of another origin is on {foreign}.",
            hint="It and the policy file would decide together: drop its policies and disable it "
            "there, and apply again; or leave the policy file to the guard.",
        )


def _list(
    connection: psycopg.Connection[Any], query: str, *parameters: list[str] | str | bool
) -> str:
    """The names that the query finds, in one line; of many, the first three and a count."""
    names = [name for (name,) in connection.execute(query, parameters).fetchall()]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _render_hint(database: str) -> str:
    return (
        f"`quorumsql policy apply {database} --sql` prints the statements: let the owner of the "
        "tables or a superuser run them with psql."
    )


def _translate(
    error: psycopg.Error, connection: psycopg.Connection[Any], database: str
) -> QuorumError:
    message = error.diag.message_primary or str(error)
    if error.sqlstate is None or connection.closed:
        return DatabaseUnavailable(f"The database {database!r} does not answer.", database=database)
    if isinstance(error, errors.InsufficientPrivilege):
        return QuorumError(
            f"{connection.info.user} may not do that: {message}.", hint=_render_hint(database)
        )
    if isinstance(error, errors.LockNotAvailable):
        return DatabaseUnavailable(
            f"A table of {database!r} is in use, so its policies cannot be changed.",
            database=database,
            hint="Try again when the long queries or the idle transactions have ended.",
        )
    detail = f": {error.diag.message_detail}" if error.diag.message_detail else "."
    return QuorumError(f"{database}: {message}{detail}")
