"""Reads from the system catalog which parts of row-level security are in a PostgreSQL database.

Knows nothing of policy files, nor of what should be there.
"""

from __future__ import annotations

import hashlib
from typing import Any

import psycopg

from execution.policies.row_level_security.blocks import (
    MEMBERS,
    OTHERS,
    name_group,
    name_index_role,
)

# The parts of row-level security, one line for each: compared, hashed and shown.
_STATE = """
WITH members AS ({members}),
keepers AS (SELECT oid, rolname FROM pg_roles WHERE rolname = %(index_role)s),
grantees AS (SELECT oid, rolname FROM members UNION ALL TABLE keepers),
secured AS (SELECT DISTINCT p.polrelid
             FROM pg_policy p JOIN members m
               ON m.rolname = p.polname AND m.oid = ANY (p.polroles))
SELECT format('role %%I', rolname) FROM grantees
UNION
SELECT format('%%I may become %%I', r.rolname, keeper.rolname)
  FROM keepers AS keeper JOIN pg_auth_members m ON m.roleid = keeper.oid AND m.set_option
  JOIN pg_roles r ON r.oid = m.member
UNION
SELECT format('%%I may become %%I', r.rolname, member.rolname)
  FROM members AS member JOIN pg_auth_members m ON m.roleid = member.oid AND m.set_option
  JOIN pg_roles r ON r.oid = m.member WHERE r.rolname = %(reader)s
UNION
SELECT format('policy %%I on %%I.%%I (%%s, %%s, using %%s)', p.polname, n.nspname, c.relname,
              CASE WHEN p.polpermissive THEN 'permissive' ELSE 'restrictive' END, p.polcmd,
              pg_get_expr(p.polqual, p.polrelid))
  FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE p.polrelid IN (TABLE secured)
   AND (p.polname = %(others)s OR p.polname IN (SELECT rolname FROM members))
UNION
SELECT format('row-level security on %%I.%%I%%s', n.nspname, c.relname,
              CASE WHEN c.relforcerowsecurity THEN ', also for its owner' ELSE '' END)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relrowsecurity
   AND c.oid IN (TABLE secured)
UNION
SELECT format('%%I may use the schema %%I', member.rolname, n.nspname)
  FROM grantees AS member, pg_namespace n, aclexplode(n.nspacl) a WHERE a.grantee = member.oid
UNION
SELECT format('%%I may %%s %%I.%%I', member.rolname, a.privilege_type, n.nspname, c.relname)
  FROM grantees AS member, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace,
       aclexplode(c.relacl) a
 WHERE a.grantee = member.oid
UNION
SELECT format('%%I may %%s %%I.%%I (%%s)', member.rolname, a.privilege_type, n.nspname, c.relname,
              string_agg(quote_ident(t.attname), ', ' ORDER BY t.attnum))
  FROM grantees AS member, pg_attribute t JOIN pg_class c ON c.oid = t.attrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(t.attacl) a
 WHERE a.grantee = member.oid
 GROUP BY member.rolname, a.privilege_type, n.nspname, c.relname
"""


def read_state(connection: psycopg.Connection[Any], database: str, reader: str) -> frozenset[str]:
    """One line for each part of row-level security. Raises psycopg.Error."""
    # Under an empty path every name is written with its schema, for any login.
    connection.execute("SET LOCAL search_path = ''")
    query = _STATE.format(members=render_members(database))
    index_role = name_index_role(database)
    parameters = {"reader": reader, "others": OTHERS, "index_role": index_role}
    rows = connection.execute(query.encode(), parameters).fetchall()
    return frozenset(line for (line,) in rows)


def render_members(database: str) -> str:
    """The query for the roles of row-level security, for use inside a query with parameters."""
    group = name_group(database).replace("'", "''").replace("%", "%%")
    return MEMBERS.format(group=f"'{group}'")


def hash_state(state: frozenset[str]) -> str:
    """SHA-256 over the lines, independent of their order."""
    return hashlib.sha256("\n".join(sorted(state)).encode()).hexdigest()
