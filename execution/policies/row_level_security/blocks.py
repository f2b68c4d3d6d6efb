"""PL/pgSQL blocks that create the roles of row-level security and remove all of its parts.

These steps depend on what is in the database; as blocks they do the same in psql as in
``quorumsql policy apply``. The parts are found in the database itself (the roles that are members
of the group, their grants and policies), because the policy file may have changed since.

Knows nothing of policies.
"""

from __future__ import annotations

from collections.abc import Iterable

from nl2sql.sql.names import quote_literal

# The policy that shows every row to other logins: with row-level security, a row is visible only
# if some permissive policy shows it.
OTHERS = "quorumsql_others"

# The prefix of the group's comment; a role of that name without it was not made by us.
GROUP_COMMENT = "quorumsql policy of "

# The roles of row-level security: members of the group, named after it, that cannot log in.
MEMBERS = """SELECT r.oid, r.rolname
  FROM pg_roles g JOIN pg_auth_members m ON m.roleid = g.oid JOIN pg_roles r ON r.oid = m.member
 WHERE g.rolname = {group} AND NOT r.rolcanlogin AND starts_with(r.rolname, g.rolname || '_')
 GROUP BY r.oid, r.rolname ORDER BY r.rolname"""

_CHECK_VERSION = """BEGIN
  IF current_setting('server_version_num')::integer < 160000 THEN
    RAISE EXCEPTION USING ERRCODE = 'feature_not_supported', MESSAGE =
      'row-level security needs PostgreSQL 16 or later: an older server cannot grant a role '
      'that is only assumed, not inherited';
  END IF;
END"""

# The order matters: dependent objects are dropped first.
_CLEAR = """DECLARE
  member record;
  found record;
BEGIN
  FOR member IN {members}
  LOOP
    FOR found IN
      SELECT p.polname, n.nspname, c.relname
        FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
        JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE p.polname = member.rolname AND member.oid = ANY (p.polroles)
    LOOP
      EXECUTE format('DROP POLICY %I ON %I.%I', found.polname, found.nspname, found.relname);
    END LOOP;
    FOR found IN
      SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE n.nspname = member.rolname AND c.relkind = 'v'
    LOOP
      EXECUTE format('DROP VIEW %I.%I', member.rolname, found.relname);
    END LOOP;
    EXECUTE format('DROP SCHEMA IF EXISTS %I', member.rolname);
    FOR found IN
      SELECT DISTINCT n.nspname, c.relname
        FROM pg_shdepend d JOIN pg_class c ON c.oid = d.objid
        JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND d.classid = 'pg_class'::regclass AND d.deptype = 'a'
         AND d.refclassid = 'pg_authid'::regclass AND d.refobjid = member.oid
    LOOP
      EXECUTE format('REVOKE ALL ON %I.%I FROM %I', found.nspname, found.relname, member.rolname);
    END LOOP;
    FOR found IN
      SELECT n.nspname
        FROM pg_shdepend d JOIN pg_namespace n ON n.oid = d.objid
       WHERE d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
         AND d.classid = 'pg_namespace'::regclass AND d.deptype = 'a'
         AND d.refclassid = 'pg_authid'::regclass AND d.refobjid = member.oid
    LOOP
      EXECUTE format('REVOKE ALL ON SCHEMA %I FROM %I', found.nspname, member.rolname);
    END LOOP;
    IF member.rolname <> ALL (ARRAY[{kept}]::text[]) THEN
      BEGIN
        EXECUTE format('DROP ROLE %I', member.rolname);
      EXCEPTION WHEN dependent_objects_still_exist THEN
        RAISE WARNING 'the role % stays: something else needs it, perhaps in another database',
          member.rolname;
      END;
    END IF;
  END LOOP;
  -- The table had no policies of its own; those of another set of roles may still be there.
  FOR found IN
    SELECT n.nspname, c.relname
      FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
      JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE p.polname = {others}
       AND NOT EXISTS (SELECT FROM pg_policy o
                        WHERE o.polrelid = c.oid AND starts_with(o.polname, 'quorumsql_')
                          AND o.polname <> p.polname)
  LOOP
    EXECUTE format('DROP POLICY %I ON %I.%I', {others}, found.nspname, found.relname);
    EXECUTE format('ALTER TABLE %I.%I NO FORCE ROW LEVEL SECURITY', found.nspname, found.relname);
    EXECUTE format('ALTER TABLE %I.%I DISABLE ROW LEVEL SECURITY', found.nspname, found.relname);
  END LOOP;{drop_group}
END"""

_DROP_GROUP = """
  IF EXISTS (SELECT FROM pg_roles g WHERE g.rolname = {group}
              AND starts_with(shobj_description(g.oid, 'pg_authid'), {comment}))
     AND NOT EXISTS ({members}) THEN
    EXECUTE format('DROP ROLE %I', {group});
  END IF;"""

_MAKE_ROLES = """DECLARE
  wanted text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {group}) THEN
    EXECUTE format('CREATE ROLE %I NOLOGIN', {group});
    EXECUTE format('COMMENT ON ROLE %I IS %L', {group}, {comment});
  ELSIF NOT EXISTS (SELECT FROM pg_roles g WHERE g.rolname = {group}
                     AND starts_with(shobj_description(g.oid, 'pg_authid'), {comment})) THEN
    RAISE EXCEPTION USING ERRCODE = 'duplicate_object',
      MESSAGE = format('the role %I already exists and was not made for this policy', {group});
  END IF;
  FOREACH wanted IN ARRAY ARRAY[{roles}]::text[]
  LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
      EXECUTE format('GRANT %I TO %I', {group}, wanted);
    ELSIF NOT EXISTS (SELECT FROM ({members}) AS member WHERE rolname = wanted) THEN
      RAISE EXCEPTION USING ERRCODE = 'duplicate_object',
        MESSAGE = format('the role %I already exists and was not made for this policy', wanted);
    END IF;
  END LOOP;
END"""


def render_version_check() -> str:
    """A block that fails on a server that is too old."""
    return render_block(_CHECK_VERSION)


def render_clearing(group: str, kept: Iterable[str]) -> str:
    """A block that revokes everything from the group's roles and drops those not in ``kept``.

    A kept role keeps the roles granted to it and the logins that may assume it. Only objects of
    row-level security are dropped.
    """
    return _render_clear(group, kept, "")


def render_removal(group: str) -> str:
    """A block that revokes everything from the group's roles and drops them and the group."""
    drop = _DROP_GROUP.format(
        group=quote_literal(group),
        comment=quote_literal(GROUP_COMMENT),
        members=MEMBERS.format(group=quote_literal(group)),
    )
    return _render_clear(group, (), drop)


def render_roles(group: str, roles: Iterable[str], database: str) -> str:
    """A block that creates the missing roles; fails if one exists that was not made by us."""
    return render_block(
        _MAKE_ROLES.format(
            group=quote_literal(group),
            comment=quote_literal(f"{GROUP_COMMENT}{database}:"),
            roles=", ".join(map(quote_literal, roles)),
            members=MEMBERS.format(group=quote_literal(group)),
        )
    )


def _render_clear(group: str, kept: Iterable[str], drop_group: str) -> str:
    return render_block(
        _CLEAR.format(
            members=MEMBERS.format(group=quote_literal(group)),
            kept=", ".join(map(quote_literal, kept)),
            others=quote_literal(OTHERS),
            drop_group=drop_group,
        )
    )


def render_block(body: str) -> str:
    """The body as one DO statement, with a dollar quote that does not occur in it."""
    tag = "quorumsql"
    while f"${tag}$" in body:
        tag += "_"
    return f"DO ${tag}$\n{body}\n${tag}$"
