"""A database for row-level security: the demo ERP, owned by a login that is no superuser.

The owner may create roles, as row-level security's statements need, and has a view over
two of its tables; ``wall_guest`` is somebody whom no policy is about.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import RawCursor, sql

from execution.policies.access import CompiledPolicy
from execution.policies.policy_file import Policy, load_policy
from execution.policies.row_level_security.apply import (
    apply_row_security,
    check_applied,
)
from execution.policies.row_level_security.ddl import RowSecurity, build_row_security
from execution.postgres.embedded import INDEXER, READER, SUPERUSER, EmbeddedServer
from execution.postgres.session import render_setting
from nl2sql.types import Principal, SessionIdentity, Violation
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.conftest import ROOT
from tests.demo import MODULES

DATABASE = "secured"
OWNER = "wall_owner"
GUEST = "wall_guest"
INDEX_ROLE = f"quorumsql_index_{DATABASE}"

PRINCIPALS = (
    Principal("logistics", ("department_member",), (("department_id", 18),)),
    Principal("support", ("department_member",), (("department_id", 31),)),
    Principal("nordics", ("regional_manager",), (("region_ids", (5,)),)),
    Principal("overseas", ("regional_manager",), (("region_ids", (9, 10, 11)),)),
    Principal("nowhere", ("regional_manager",), (("region_ids", ()),)),
    Principal("public", ("public_reporting",)),
    Principal("analyst", ("analyst",)),
)

_ROLES = f"""
CREATE ROLE {OWNER} LOGIN CREATEROLE;
CREATE ROLE {GUEST} LOGIN;
GRANT CREATE ON DATABASE {DATABASE} TO {OWNER};
"""

_OWNED = f"""
DO $$ DECLARE each record; BEGIN
  FOR each IN SELECT c.oid::regclass AS name FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ('{{{",".join(MODULES)}}}') AND c.relkind IN ('r', 'v')
  LOOP EXECUTE format('ALTER TABLE %s OWNER TO {OWNER}', each.name); END LOOP;
  FOR each IN SELECT nspname AS name FROM pg_namespace
    WHERE nspname = ANY ('{{{",".join(MODULES)}}}')
  LOOP EXECUTE format('ALTER SCHEMA %I OWNER TO {OWNER}', each.name); END LOOP;
END $$;
GRANT USAGE ON SCHEMA hr, sales TO {GUEST};
GRANT SELECT ON hr.employees, sales.orders TO {GUEST};
SET SESSION AUTHORIZATION {OWNER};
CREATE VIEW sales.orders_by_status AS
  SELECT status, count(*) AS orders FROM sales.orders GROUP BY status;
GRANT SELECT ON sales.orders_by_status TO {READER};
RESET SESSION AUTHORIZATION;
"""


@dataclass(frozen=True, slots=True)
class RowSecurityDatabase:
    """The database, and how to reach it; ``close`` ends the sessions that ``ask`` keeps."""

    server: EmbeddedServer
    _sessions: dict[str, psycopg.Connection[Any]] = field(default_factory=dict)

    def url(self, login: str) -> str:
        """The URL of the database for that login."""
        return self.server.url(DATABASE, login)

    def compile(
        self, policy: Policy | None = None, *, row_level_security: bool = False
    ) -> CompiledPolicy:
        """A policy, the demo's by default, on the catalog as it is now."""
        catalog = read_postgres_catalog(
            self.url(SUPERUSER),
            database=DATABASE,
            reader_role=READER,
            index_role=INDEX_ROLE,
            schemas=MODULES,
        )
        return CompiledPolicy(
            policy or read_policy(), catalog, row_level_security=row_level_security
        )

    def build_row_security(self, policy: Policy | None = None) -> RowSecurity:
        """row-level security of that policy, as the database is now."""
        return build_row_security(self.compile(policy), reader=READER, indexer=INDEXER)

    def apply(self) -> None:
        """Applies the demo's security where it does not stand untouched."""
        security = self.build_row_security()
        if check_applied(self.url(READER), security):
            apply_row_security(self.url(OWNER), security)

    def run(self, login: str, statements: str) -> None:
        """Runs statements and commits them."""
        with psycopg.connect(self.url(login), autocommit=True) as connection:
            connection.execute(statements.encode())

    def ask(
        self,
        login: str,
        query: str,
        params: Sequence[object] = (),
        *,
        identity: SessionIdentity | None = None,
    ) -> list[tuple[Any, ...]] | str:
        """The rows, or the SQLSTATE; under ``identity`` as the executor does it."""
        if login not in self._sessions:
            self._sessions[login] = psycopg.connect(self.url(login), cursor_factory=RawCursor)
        connection = self._sessions[login]
        try:
            if identity:
                for setting in (*identity.settings, ("role", identity.role)):
                    connection.execute(render_setting(setting).encode())
            values = [list(param) if isinstance(param, tuple) else param for param in params]
            return connection.execute(query.encode(), values).fetchall()
        except psycopg.Error as error:
            return error.sqlstate or "?"
        finally:
            # The identity too.
            connection.rollback()

    def close(self) -> None:
        """Ends the sessions."""
        for connection in self._sessions.values():
            connection.close()

    def dump(self) -> tuple[str, list[tuple[Any, ...]]]:
        """All of the schema as pg_dump writes it, and every role with its memberships."""
        command = [str(self.server.bin_folder / "pg_dump"), "--schema-only", self.url(SUPERUSER)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        # Newer servers' dumps hold a random key.
        lines = [line for line in text.splitlines() if not line.startswith(("\\restrict", "\\unr"))]
        # Rights given back come after the others.
        rights = sorted(line for line in lines if line.startswith(("GRANT ", "REVOKE ")))
        lines = [line for line in lines if not line.startswith(("GRANT ", "REVOKE "))] + rights
        roles = self.ask(
            SUPERUSER,
            "SELECT r.rolname, r.rolcanlogin, m.roleid::regrole::text, m.inherit_option,"
            " shobj_description(r.oid, 'pg_authid')"
            " FROM pg_roles r LEFT JOIN pg_auth_members m ON m.member = r.oid ORDER BY 1, 3",
        )
        assert isinstance(roles, list)
        return "\n".join(lines), roles


@contextmanager
def open_row_security_database(server: EmbeddedServer) -> Iterator[RowSecurityDatabase]:
    """The database, made from the demo's; it and its logins go at the end."""
    _drop(server)
    with psycopg.connect(server.url("postgres", SUPERUSER), autocommit=True) as admin:
        # A database is copied only while nobody is in it.
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'second'"
        )
        admin.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE second").format(sql.Identifier(DATABASE))
        )
        admin.execute(_ROLES.encode())
    secured = RowSecurityDatabase(server)
    secured.run(SUPERUSER, _OWNED)
    yield secured
    secured.close()
    _drop(server)


def _drop(server: EmbeddedServer) -> None:
    server.drop_database(DATABASE)
    with psycopg.connect(server.url("postgres", SUPERUSER), autocommit=True) as admin:
        rows = admin.execute(
            "SELECT rolname FROM pg_roles WHERE rolname IN (%s, %s)"
            " OR starts_with(rolname, %s) OR rolname = %s ORDER BY rolname DESC",
            (OWNER, GUEST, f"quorumsql_{DATABASE}", INDEX_ROLE),
        ).fetchall()
        # The owner granted the others, so it goes last.
        for (name,) in sorted(rows, key=lambda row: row[0] == OWNER):
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def read_policy() -> Policy:
    """The demo's policy, for this database."""
    policy = load_policy(ROOT / "data" / "demo_erp" / "policy.yaml")
    return policy.model_copy(update={"database": DATABASE})


def find_identity(compiled: CompiledPolicy, principal: Principal) -> SessionIdentity:
    """What row-level security knows of that principal."""
    access = compiled.access(principal)
    assert not isinstance(access, Violation)
    assert access.session is not None
    return access.session
