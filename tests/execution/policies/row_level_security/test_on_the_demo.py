"""Row-level security on a server: with the guard gone, each role sees only its own rows."""

from __future__ import annotations

import psycopg
import pytest

from execution.guard.guard import guard_query
from execution.policies.access import CompiledPolicy
from execution.policies.row_level_security.apply import (
    apply_row_security,
    check_applied,
    remove_row_security,
)
from execution.policies.row_level_security.blocks import build_removal, render_script
from execution.policies.row_level_security.ddl import render_head
from execution.postgres.embedded import INDEXER, READER, SUPERUSER
from nl2sql.errors import DatabaseUnavailable, QuorumError
from nl2sql.sql.names import enquote
from nl2sql.types import GuardedQuery, Principal, SessionIdentity, Violation
from tests.execution.expecting import expect
from tests.execution.policies.row_security_database import (
    DATABASE,
    GUEST,
    INDEX_ROLE,
    OWNER,
    PRINCIPALS,
    RowSecurityDatabase,
    find_identity,
    read_policy,
)

_ANY_ROLE = f"quorumsql_{DATABASE}_department_member"


@pytest.fixture(scope="module")
def first(secured: RowSecurityDatabase) -> CompiledPolicy:
    """The policy without row-level security."""
    return secured.compile()


@pytest.fixture(scope="module")
def second(secured: RowSecurityDatabase) -> CompiledPolicy:
    """The policy with it."""
    return secured.compile(row_level_security=True)


def guard(compiled: CompiledPolicy, principal: Principal, query: str) -> GuardedQuery | Violation:
    access = compiled.access(principal)
    assert not isinstance(access, Violation)
    return guard_query(query, access)


def count(schema: str, name: str) -> str:
    return f"SELECT count(*) FROM {enquote(schema, name)}"


@pytest.mark.parametrize("principal", PRINCIPALS, ids=lambda principal: principal.name)
def test_without_the_guard_a_role_sees_what_the_guard_shows(
    applied: RowSecurityDatabase,
    first: CompiledPolicy,
    second: CompiledPolicy,
    principal: Principal,
) -> None:
    """It counts the same rows, and is refused hidden tables and masked columns.

    The login without a role is refused every table.
    """
    identity = find_identity(second, principal)
    rules = first.roles[principal.roles[0]]
    refused = []
    for table in first.catalog.tables:
        name = enquote(table.schema, table.name)
        query = f"SELECT count(*) FROM {name}"
        assert applied.ask(READER, query) == "42501", name
        rule = rules.get(table.qualified)
        if rule is None:
            refused.append(query)
        elif not rule.expands:
            refused += [f"SELECT {enquote(column)} FROM {name}" for column in rule.masks]
            guarded = expect(GuardedQuery, guard(first, principal, query))
            seen = applied.ask(SUPERUSER, guarded.sql, guarded.params)
            assert applied.ask(READER, query, identity=identity) == seen, name
    assert refused or principal.name == "analyst"
    for query in refused:
        assert applied.ask(READER, query, identity=identity) == "42501", query


@pytest.mark.parametrize("settings", [(), (("quorumsql.department_id", ""),)])
def test_an_attribute_that_is_not_set_shows_no_rows(
    applied: RowSecurityDatabase, first: CompiledPolicy, settings: tuple[tuple[str, str], ...]
) -> None:
    identity = SessionIdentity(_ANY_ROLE, settings)
    filtered = [
        rule.table
        for rule in first.roles["department_member"].values()
        if rule.filter is not None or rule.inherits is not None
    ]
    assert len(filtered) > 20
    for table in filtered:
        query = count(table.schema, table.name)
        assert applied.ask(READER, query, identity=identity) == [(0,)], table.qualified


def test_nobody_else_notices(secured: RowSecurityDatabase) -> None:
    remove_row_security(secured.url(OWNER), DATABASE)
    queries = [
        "SELECT count(*), sum(salary) FROM hr.employees",
        "SELECT count(*) FROM sales.orders",
        "SELECT * FROM sales.orders_by_status ORDER BY 1",
        "SELECT count(*) FROM hr.payslips",
        "UPDATE hr.employees SET job_title = 'x' WHERE employee_id < 9 RETURNING employee_id",
        "DELETE FROM hr.public_holidays RETURNING 1",
    ]
    asked = [(login, query) for login in (SUPERUSER, OWNER, GUEST, INDEXER) for query in queries]
    before = [secured.ask(*question) for question in asked]
    apply_row_security(secured.url(OWNER), secured.build_row_security())
    assert [secured.ask(*question) for question in asked] == before


def test_a_whole_view_shows_its_rows_though_its_owner_is_forced(
    applied: RowSecurityDatabase, second: CompiledPolicy
) -> None:
    identity = find_identity(second, Principal("ann", ("analyst",)))
    query = "SELECT * FROM sales.orders_by_status ORDER BY 1"
    rows = applied.ask(OWNER, query)
    assert isinstance(rows, list)
    assert rows
    assert applied.ask(READER, query, identity=identity) == rows


# -- what runs the statements ------------------------------------------------------------------


def test_what_is_applied_is_undone_without_a_trace(secured: RowSecurityDatabase) -> None:
    url = secured.url(OWNER)
    remove_row_security(url, DATABASE)
    before, security = secured.dump(), secured.build_row_security()
    assert check_applied(secured.url(READER), security).endswith("was never applied to it.")
    assert apply_row_security(url, security) == ()
    applied = secured.dump()
    assert apply_row_security(url, secured.build_row_security()) == ()
    assert secured.dump() == applied != before
    assert check_applied(secured.url(READER), secured.build_row_security()) == ""
    assert remove_row_security(url, DATABASE) == ()
    assert secured.dump() == before


def test_the_script_does_the_same_in_psql(applied: RowSecurityDatabase) -> None:
    security, before = applied.build_row_security(), applied.dump()
    script = render_script(security.script, head=render_head(security))
    removal = render_script(build_removal(DATABASE))
    for text in (removal, script, script):
        applied.run(OWNER, text)
    assert applied.dump()[0] == before[0]
    assert check_applied(applied.url(READER), security) == ""


def test_a_role_that_left_the_policy_goes_and_a_persons_membership_stays(
    applied: RowSecurityDatabase,
) -> None:
    applied.run(OWNER, f"GRANT {_ANY_ROLE} TO {GUEST}")
    roles = {**read_policy().roles}
    del roles["public_reporting"]
    smaller = read_policy().model_copy(update={"roles": roles})
    security = applied.build_row_security(smaller)
    assert check_applied(applied.url(READER), security).endswith("is not what its policy says now.")
    apply_row_security(applied.url(OWNER), security)
    gone = f"quorumsql_{DATABASE}_public_reporting"
    assert applied.ask(READER, f"SELECT '{gone}'::regrole") == "42704"
    assert (_ANY_ROLE,) in [(row[2],) for row in applied.dump()[1] if row[0] == GUEST]
    applied.run(OWNER, f"REVOKE {_ANY_ROLE} FROM {GUEST}")


@pytest.mark.parametrize(
    ("tampering", "said"),
    [
        ("ALTER TABLE hr.employees DISABLE ROW LEVEL SECURITY", "switched off on hr.employees"),
        (f"GRANT {_ANY_ROLE} TO {READER} WITH INHERIT TRUE", "has the rights of"),
    ],
)
def test_what_was_changed_by_hand_is_noticed_and_put_right(
    applied: RowSecurityDatabase, tampering: str, said: str
) -> None:
    applied.run(OWNER, tampering)
    wrong = check_applied(applied.url(READER), applied.build_row_security())
    assert said in wrong
    apply_row_security(applied.url(OWNER), applied.build_row_security())
    assert check_applied(applied.url(READER), applied.build_row_security()) == ""


def test_whoever_lacks_a_right_is_told_which_and_what_to_run(secured: RowSecurityDatabase) -> None:
    with pytest.raises(QuorumError) as caught:
        apply_row_security(secured.url(GUEST), secured.build_row_security())
    message = str(caught.value)
    for part in (
        "wall_guest may not create roles (CREATEROLE)",
        "which it does not own",
        "grant the use of the schemas",
        f"`quorumsql policy apply {DATABASE} --sql`",
    ):
        assert part in message


def test_what_everybody_may_read_is_told(applied: RowSecurityDatabase) -> None:
    applied.run(OWNER, "GRANT SELECT (salary) ON hr.employees TO PUBLIC")
    notices = apply_row_security(applied.url(OWNER), applied.build_row_security())
    applied.run(OWNER, "REVOKE SELECT (salary) ON hr.employees FROM PUBLIC")
    assert notices == ("PUBLIC may read hr.employees, and so may every role: revoke that",)


def test_a_role_that_something_else_needs_stays_and_is_told(applied: RowSecurityDatabase) -> None:
    applied.run(SUPERUSER, f"GRANT CONNECT ON DATABASE second TO {_ANY_ROLE}")
    notices = remove_row_security(applied.url(OWNER), DATABASE)
    assert [notice for notice in notices if f"the role {_ANY_ROLE} stays" in notice]
    assert applied.ask(READER, f"SELECT 'quorumsql_{DATABASE}'::regrole") != "42704"
    applied.run(SUPERUSER, f"REVOKE CONNECT ON DATABASE second FROM {_ANY_ROLE}")
    assert remove_row_security(applied.url(OWNER), DATABASE) == ()
    for name in (_ANY_ROLE, f"quorumsql_{DATABASE}"):
        assert applied.ask(READER, f"SELECT '{name}'::regrole") == "42704"


@pytest.mark.parametrize(
    ("there", "gone", "said"),
    [
        *(
            (f"CREATE ROLE {name}", f"DROP ROLE {name}", "was not made for this policy")
            for name in (f"quorumsql_{DATABASE}", _ANY_ROLE, INDEX_ROLE)
        ),
        (
            "CREATE POLICY asleep ON hr.employees AS RESTRICTIVE USING (false)",
            "DROP POLICY asleep ON hr.employees",
            r"another origin is on hr\.employees",
        ),
        (
            f"ALTER TABLE hr.employees ENABLE ROW LEVEL SECURITY; "
            f"CREATE POLICY even ON hr.employees TO {GUEST} USING (employee_id % 2 = 0)",
            "DROP POLICY even ON hr.employees; ALTER TABLE hr.employees DISABLE ROW LEVEL SECURITY",
            r"another origin is on hr\.employees",
        ),
    ],
)
def test_what_is_somebody_elses_is_neither_taken_nor_woken(
    secured: RowSecurityDatabase, there: str, gone: str, said: str
) -> None:
    remove_row_security(secured.url(OWNER), DATABASE)
    secured.run(OWNER, there)
    try:
        with pytest.raises(QuorumError, match=said):
            apply_row_security(secured.url(OWNER), secured.build_row_security())
    finally:
        secured.run(OWNER, gone)


def test_a_table_in_use_is_not_waited_for_without_end(
    applied: RowSecurityDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("execution.policies.row_level_security.apply._LOCK_TIMEOUT_MS", 50)
    with psycopg.connect(applied.url(GUEST)) as somebody:
        somebody.execute("SELECT 1 FROM hr.employees LIMIT 1")
        with pytest.raises(DatabaseUnavailable, match="is in use"):
            remove_row_security(applied.url(OWNER), DATABASE)
        with pytest.raises(DatabaseUnavailable, match="is in use"):
            apply_row_security(applied.url(OWNER), applied.build_row_security())
