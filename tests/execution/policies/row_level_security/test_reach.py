"""What is left to a query that leaves its role behind row-level security: no table, no function."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import CompiledPolicy
from execution.policies.row_level_security.apply import (
    apply_row_security,
    check_applied,
    remove_row_security,
)
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER
from execution.postgres.session import find_definers
from nl2sql.settings import LimitSettings
from nl2sql.types import GuardedQuery, Principal, ResultSet, SessionIdentity, Violation
from serve_app.operations.checks.databases import check_functions
from tests.demo import MODULES
from tests.execution.expecting import expect
from tests.execution.policies.row_security_database import (
    DATABASE,
    OWNER,
    PRINCIPALS,
    RowSecurityDatabase,
    find_identity,
)

DOCS = Path(__file__).parents[4] / "docs"
_SUPPORT = PRINCIPALS[1]
_NO_RIGHT = "42501"

# Leaves the role first, then reads what only the login, or a role that it may become, may read.
_LEAVE = """
SELECT word FROM (SELECT set_config('role', '{role}', true) AS now OFFSET 0) AS a,
 LATERAL ts_stat(CASE WHEN a.now IS NOT NULL THEN
   'SELECT array_to_tsvector(array[salary::text]) FROM hr.employees' END)
"""
_BECOME = _LEAVE.format(role=f"quorumsql_{DATABASE}_analyst")
_TEXT_AS_SQL = (
    "SELECT word FROM ts_stat('SELECT array_to_tsvector(array[employee_id::text])"
    " FROM hr.employees')"
)


@pytest.fixture
def revoked(applied: RowSecurityDatabase) -> Iterator[RowSecurityDatabase]:
    """Without the functions that the guide's script revokes; given back at the end."""
    page = (DOCS / "how-to" / "row-level-security.md").read_text()
    script = page.partition("```sql\nDO ")[2].partition("```")[0]
    applied.run(SUPERUSER, f"DO {script}")
    yield applied
    applied.run(
        SUPERUSER, f"DO {script}".replace("REVOKE", "GRANT").replace("FROM PUBLIC", "TO PUBLIC")
    )


@pytest.fixture(scope="module")
def second(secured: RowSecurityDatabase) -> CompiledPolicy:
    return secured.compile(row_level_security=True)


@pytest.fixture(scope="module")
def support(second: CompiledPolicy) -> SessionIdentity:
    return find_identity(second, _SUPPORT)


def test_who_leaves_the_role_reads_nothing(
    applied: RowSecurityDatabase, support: SessionIdentity
) -> None:
    query = _LEAVE.format(role="none")
    assert applied.ask(READER, query, identity=support) == _NO_RIGHT
    # The attack is one: it reads hidden rows and columns where the login has SELECT.
    applied.run(OWNER, f"GRANT SELECT ON hr.employees TO {READER}")
    rows = applied.ask(READER, query, identity=support)
    assert isinstance(rows, list)
    assert len(rows) > 20
    # Another role is in reach as long as its functions are.
    assert isinstance(applied.ask(READER, _BECOME, identity=support), list)
    wrong = check_applied(applied.url(READER), applied.build_row_security())
    assert wrong == f"{READER} may read hr.employees without becoming a role of {DATABASE}."
    apply_row_security(applied.url(OWNER), applied.build_row_security())
    assert applied.ask(READER, query, identity=support) == _NO_RIGHT


@pytest.mark.parametrize(
    "query",
    [
        _BECOME,
        "SELECT set_config('quorumsql.department_id', '18', true)",
        _TEXT_AS_SQL,
        "SELECT query_to_xml('SELECT 1', true, true, '')",
        "SELECT pg_sleep(0)",
        "SELECT pg_try_advisory_lock(1)",
        "SELECT pg_terminate_backend(0)",
        "SELECT lo_get(1)",
        "SELECT query FROM pg_stat_activity",
    ],
)
def test_functions_that_were_taken_are_refused_by_the_database(
    revoked: RowSecurityDatabase, support: SessionIdentity, query: str
) -> None:
    assert revoked.ask(READER, query, identity=support) == _NO_RIGHT
    assert revoked.ask(READER, query) == _NO_RIGHT
    assert revoked.ask(SUPERUSER, query) != _NO_RIGHT


async def test_guarded_queries_need_none_of_these_functions(
    revoked: RowSecurityDatabase, second: CompiledPolicy
) -> None:
    access = second.access(_SUPPORT)
    assert not isinstance(access, Violation)
    query = expect(GuardedQuery, guard_query("SELECT count(*) FROM hr.employees", access))
    reader = PostgresDatabase(DATABASE, revoked.url(READER), LimitSettings(), search_path=MODULES)
    try:
        await reader.explain(query)
        result = await reader.execute(query, 10)
    finally:
        await reader.close()
    assert isinstance(result, ResultSet)
    own = revoked.ask(SUPERUSER, "SELECT count(*) FROM hr.employees WHERE department_id = 31")
    assert list(result.rows) == own
    assert own != [(0,)]


def test_rights_on_columns_are_kept_and_given_back(secured: RowSecurityDatabase) -> None:
    remove_row_security(secured.url(OWNER), DATABASE)
    secured.run(
        OWNER,
        f"REVOKE SELECT ON hr.payslips FROM {READER};"
        f"GRANT SELECT (pay_month, employee_id) ON hr.payslips TO {READER}",
    )
    try:
        before, catalog = secured.dump(), secured.compile().catalog
        apply_row_security(secured.url(OWNER), secured.build_row_security())
        query = "SELECT count(pay_month) FROM hr.payslips"
        assert secured.ask(READER, query) == _NO_RIGHT
        assert secured.compile().catalog == catalog
        remove_row_security(secured.url(OWNER), DATABASE)
        assert isinstance(secured.ask(READER, query), list)
        assert secured.dump() == before
    finally:
        secured.run(
            OWNER,
            f"REVOKE SELECT (pay_month, employee_id) ON hr.payslips FROM {READER};"
            f"GRANT SELECT ON hr.payslips TO {READER}",
        )


def test_a_table_granted_later_is_seen_and_told_until_it_is_applied(
    applied: RowSecurityDatabase,
) -> None:
    applied.run(
        OWNER,
        f"CREATE TABLE hr.later (id integer PRIMARY KEY); GRANT SELECT ON hr.later TO {READER}",
    )
    try:
        catalog = applied.compile().catalog
        assert catalog.table("hr.later") is not None
        apply_row_security(applied.url(OWNER), applied.build_row_security())
        assert applied.compile().catalog == catalog
        assert applied.ask(READER, "SELECT * FROM hr.later") == _NO_RIGHT
        analyst = find_identity(
            applied.compile(row_level_security=True), Principal("a", ("analyst",))
        )
        assert applied.ask(READER, "SELECT * FROM hr.later", identity=analyst) == []
    finally:
        applied.run(OWNER, "DROP TABLE hr.later")


def test_functions_with_their_owners_rights_are_found(applied: RowSecurityDatabase) -> None:
    body = "LANGUAGE sql SECURITY DEFINER AS 'SELECT max(salary) FROM hr.employees'"
    applied.run(
        OWNER,
        f"CREATE FUNCTION hr.top(integer) RETURNS numeric {body};"
        "CREATE FUNCTION hr.tick() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER"
        " AS 'BEGIN RETURN NEW; END'",
    )
    try:
        url = applied.url(READER)
        (check,) = check_functions(DATABASE, url)
        assert "hr.top(integer)" in check.message
        applied.run(OWNER, check.remedy.removeprefix("As their owner: "))
        assert find_definers(url, READER, DATABASE) == ()
        # One that a role of the policy has counts as well.
        applied.run(OWNER, f"GRANT EXECUTE ON FUNCTION hr.top TO quorumsql_{DATABASE}_analyst")
        assert find_definers(url, READER, DATABASE) == ("hr.top(integer)",)
    finally:
        applied.run(OWNER, "DROP FUNCTION hr.top, hr.tick")
