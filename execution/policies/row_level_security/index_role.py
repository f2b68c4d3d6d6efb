"""PL/pgSQL blocks that move rights from the login role to the index role, and back.

With row-level security, queries run as the roles of the policy. The login itself may SELECT
nothing, so a query that leaves its role reads nothing. The index role keeps what the login could
SELECT: the catalog shows what it may read, the indexer assumes it to read the values of the index,
and the removal of row-level security returns its rights to the login. Nobody logs in as it.

Functions can be revoked from PUBLIC; the index role then has EXECUTE on exactly those functions,
which records what to return.

Knows nothing of policies.
"""

from __future__ import annotations

from collections.abc import Iterable

from execution.policies.row_level_security.blocks import render_block
from execution.postgres.functions import KEYWORD, SPELLING, render_condition
from nl2sql.sql.names import quote_literal

# The prefix of the role's comment; a role of that name without it was not made by us.
INDEX_COMMENT = "quorumsql index role of "

_MAKE = """BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {role}) THEN
    EXECUTE format('CREATE ROLE %I NOLOGIN', {role});
    EXECUTE format('COMMENT ON ROLE %I IS %L', {role}, {comment});
  ELSIF NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = {role}
                     AND shobj_description(r.oid, 'pg_authid') = {comment}) THEN
    RAISE EXCEPTION USING ERRCODE = 'duplicate_object', MESSAGE = format(
      'the role %I already exists and was not made for this policy and reader', {role});
  END IF;
END"""

# Columns first: revoking SELECT on a table revokes it on its columns too.
_MOVE = """FOR found IN
    SELECT n.nspname, c.relname,
           string_agg(quote_ident(t.attname), ', ' ORDER BY t.attnum) AS names
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
     WHERE {where} AND a.privilege_type = 'SELECT'
       AND a.grantee = (SELECT oid FROM pg_roles WHERE rolname = source)
     GROUP BY n.nspname, c.relname
  LOOP
    EXECUTE format('GRANT SELECT (%s) ON %I.%I TO %I',
                   found.names, found.nspname, found.relname, target);
    EXECUTE format('REVOKE SELECT (%s) ON %I.%I FROM %I',
                   found.names, found.nspname, found.relname, source);
  END LOOP;
  FOR found IN
    SELECT DISTINCT n.nspname, c.relname
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) a
     WHERE {where} AND a.privilege_type = 'SELECT' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
       AND a.grantee = (SELECT oid FROM pg_roles WHERE rolname = source)
  LOOP
    EXECUTE format('GRANT SELECT ON %I.%I TO %I', found.nspname, found.relname, target);
    EXECUTE format('REVOKE SELECT ON %I.%I FROM %I', found.nspname, found.relname, source);
  END LOOP;"""

_WITHDRAW = """DECLARE
  found record;
  source CONSTANT text := {reader};
  target CONSTANT text := {role};
BEGIN
  {move}
END"""

_REVOKE_FUNCTIONS = """DECLARE
  found record;
BEGIN
  FOR found IN
    SELECT {keyword} AS keyword, {spelling} AS name
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE {condition}
       AND (p.proacl IS NULL OR EXISTS (SELECT FROM aclexplode(p.proacl) a
              WHERE a.grantee = 0 AND a.privilege_type = 'EXECUTE'))
  LOOP
    EXECUTE format('GRANT EXECUTE ON %s %s TO %I', found.keyword, found.name, {role});
    EXECUTE format('REVOKE EXECUTE ON %s %s FROM PUBLIC', found.keyword, found.name);
  END LOOP;
END"""

_RETURN = """DECLARE
  found record;
  source CONSTANT text := {role};
  target text;
BEGIN
  SELECT substr(shobj_description(r.oid, 'pg_authid'), length({comment}) + 1) INTO target
    FROM pg_roles r
   WHERE r.rolname = source AND starts_with(shobj_description(r.oid, 'pg_authid'), {comment});
  IF target IS NULL THEN
    RETURN;
  END IF;
  IF EXISTS (SELECT FROM pg_roles WHERE rolname = target) THEN
    {move}
  ELSE
    RAISE WARNING 'the role % is gone: nobody gets its SELECT back', target;
  END IF;
  FOR found IN
    SELECT {keyword} AS keyword, {spelling} AS name
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace, aclexplode(p.proacl) a
     WHERE a.privilege_type = 'EXECUTE'
       AND a.grantee = (SELECT oid FROM pg_roles WHERE rolname = source)
  LOOP
    EXECUTE format('GRANT EXECUTE ON %s %s TO PUBLIC', found.keyword, found.name);
    EXECUTE format('REVOKE EXECUTE ON %s %s FROM %I', found.keyword, found.name, source);
  END LOOP;
  FOR found IN
    SELECT DISTINCT n.nspname FROM pg_namespace n, aclexplode(n.nspacl) a
     WHERE a.grantee = (SELECT oid FROM pg_roles WHERE rolname = source)
  LOOP
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', found.nspname, source);
  END LOOP;
  BEGIN
    EXECUTE format('DROP ROLE %I', source);
  EXCEPTION WHEN dependent_objects_still_exist THEN
    RAISE WARNING 'the role % stays: something else needs it, perhaps in another database', source;
  END;
END"""


def render_index_role(role: str, database: str, reader: str) -> str:
    """A block that creates the index role; fails if one exists for another database or reader."""
    comment = f"{INDEX_COMMENT}{database}: {reader}"
    return render_block(_MAKE.format(role=quote_literal(role), comment=quote_literal(comment)))


def render_withdrawal(role: str, reader: str, schemas: Iterable[str]) -> str:
    """A block that moves the SELECT rights of ``reader`` in the schemas to the index role."""
    listed = ", ".join(map(quote_literal, schemas))
    move = _MOVE.format(where=f"n.nspname = ANY (ARRAY[{listed}]::text[])")
    return render_block(
        _WITHDRAW.format(reader=quote_literal(reader), role=quote_literal(role), move=move)
    )


def render_revocation(role: str) -> str:
    """A block that moves EXECUTE on the functions of ``FAMILIES`` from PUBLIC to the index role."""
    return render_block(
        _REVOKE_FUNCTIONS.format(
            role=quote_literal(role),
            keyword=KEYWORD,
            spelling=SPELLING,
            condition=render_condition(),
        )
    )


def render_return(role: str, database: str) -> str:
    """A block that returns the rights of the index role and drops it."""
    return render_block(
        _RETURN.format(
            role=quote_literal(role),
            comment=quote_literal(f"{INDEX_COMMENT}{database}: "),
            move=_MOVE.format(where="true"),
            keyword=KEYWORD,
            spelling=SPELLING,
        )
    )
