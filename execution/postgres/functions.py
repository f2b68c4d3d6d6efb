"""Functions of PostgreSQL that a query should not be able to call, and who may execute them.

PostgreSQL lets every role execute almost every function. The guard's allowlist prevents queries
from calling them; revoking them is a second line of defence. Their families, and the patterns of
each, are in ``allowlists/postgres_families.yaml``. Beside them the SECURITY DEFINER functions are
listed, since they run with their owner's rights.

Left out, because a REVOKE would not help: functions for which PostgreSQL checks another right that
a reader does not have (on the sequence for ``nextval`` and ``setval``, on the table for
``pg_restore_relation_stats``); functions that show no more than the catalog's tables, which
everybody may SELECT (such as ``pg_get_viewdef``, ``has_table_privilege``, ``pg_relation_size`` and
the counters of tables, compare ``pg_class.reltuples``); functions that show only this session or
the server (``current_setting``, which the policies need, ``version``, ``inet_server_addr``,
``lastval``).

Knows nothing of policies and queries.
"""

from __future__ import annotations

from dataclasses import dataclass

from execution.allowlists import load_function_names
from execution.postgres.session import open_connection
from nl2sql.sql.names import quote_literal

FAMILIES = load_function_names("postgres_families")

# SQL for a function's name in GRANT and REVOKE; under an empty search path, types outside
# pg_catalog are spelled with their schemas.
SPELLING = "format('%I.%I(%s)', n.nspname, p.proname, pg_catalog.oidvectortypes(p.proargtypes))"
KEYWORD = "CASE p.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END"

_SYSTEM_OR_EXTENSION = """(n.nspname = 'pg_catalog' OR EXISTS (
        SELECT FROM pg_catalog.pg_depend d
         WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND d.objid = p.oid
           AND d.deptype = 'e'))"""

# Every role as which a query of the login can run, including the login itself.
_ROLES = """SELECT m.oid, m.rolname FROM pg_catalog.pg_roles m
     WHERE pg_catalog.pg_has_role({login}, m.oid, 'MEMBER')"""

_REACHABLE = """
WITH families (family, pattern) AS (VALUES {families}),
roles AS ({roles})
SELECT f.family, {spelling}, {keyword},
       array(SELECT pg_catalog.quote_ident(r.rolname) FROM roles r,
                    pg_catalog.aclexplode(p.proacl) a
              WHERE a.grantee = r.oid AND a.privilege_type = 'EXECUTE' ORDER BY 1),
       p.proacl IS NULL OR EXISTS (SELECT FROM pg_catalog.aclexplode(p.proacl) a
              WHERE a.grantee = 0 AND a.privilege_type = 'EXECUTE'),
       pg_catalog.quote_ident(owner.rolname)
  FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  JOIN pg_catalog.pg_roles owner ON owner.oid = p.proowner
  JOIN families f ON {matches}
 WHERE {where}
   AND EXISTS (SELECT FROM roles r WHERE pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')
                AND pg_catalog.has_schema_privilege(r.oid, n.oid, 'USAGE'))
 ORDER BY pg_catalog.array_position({order}, f.family), 2
"""

DEFINER = "SECURITY DEFINER"


@dataclass(frozen=True, slots=True)
class ReachableFunction:
    """A function that a login, or a role that it may assume, may execute.

    ``family`` is one of ``FAMILIES`` or ``DEFINER``; ``name`` is spelled for REVOKE, with the types
    of the arguments; ``keyword`` is FUNCTION or PROCEDURE. ``grantees`` are the roles to which the
    right is granted, possibly PUBLIC. ``owner`` or a superuser may revoke it.
    """

    family: str
    name: str
    keyword: str
    grantees: tuple[str, ...]
    owner: str

    @property
    def revoke(self) -> str:
        """The statement that revokes the right."""
        return f"REVOKE EXECUTE ON {self.keyword} {self.name} FROM {', '.join(self.grantees)};"


def find_reachable(url: str, login: str, database: str) -> tuple[ReachableFunction, ...]:
    """The functions of the families, and the SECURITY DEFINER ones, that ``login`` may execute.

    ``url`` may be of any login. Functions that only their owner may execute have no grantees and
    are left out. Raises DatabaseUnavailable.
    """
    parameters = {"login": login}
    with open_connection(url, database) as connection:
        connection.execute("SET LOCAL search_path = ''")
        rows = [
            row
            for query in (_render_families(), _render_definers())
            for row in connection.execute(query.encode(), parameters).fetchall()
        ]
    found = []
    for family, name, keyword, by_name, is_public, owner in rows:
        grantees = (*(["PUBLIC"] if is_public else []), *by_name)
        if grantees:
            found.append(ReachableFunction(family, name, keyword, grantees, owner))
    return tuple(found)


def _render_families() -> str:
    rows = (
        f"({quote_literal(family)}, {quote_literal('|'.join(sorted(patterns)))})"
        for family, patterns in FAMILIES.items()
    )
    return _render_query(", ".join(rows), _render_match("f.pattern"), _SYSTEM_OR_EXTENSION)


def _render_definers() -> str:
    # A trigger function can only be called by its trigger.
    where = (
        "p.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        " AND p.prorettype <> 'pg_catalog.trigger'::pg_catalog.regtype"
        " AND p.prorettype <> 'pg_catalog.event_trigger'::pg_catalog.regtype"
    )
    return _render_query(f"({quote_literal(DEFINER)}, '')", "true", where)


def _render_query(families: str, matches: str, where: str) -> str:
    query = _REACHABLE.format(
        families=families,
        roles=_ROLES.format(login="\0"),
        spelling=SPELLING,
        keyword=KEYWORD,
        matches=matches,
        where=where,
        order=f"ARRAY[{', '.join(map(quote_literal, (*FAMILIES, DEFINER)))}]",
    )
    return query.replace("%", "%%").replace("\0", "%(login)s")


def _render_match(pattern: str) -> str:
    signature = "p.proname || '(' || pg_catalog.oidvectortypes(p.proargtypes) || ')'"
    return f"{signature} ~ ('^(?:' || {pattern} || ')$')"
