"""What a query on PostgreSQL may cost, and under which role: limits that the database keeps."""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import psycopg
import pytest

from execution.postgres.database import PostgresDatabase
from execution.postgres.session import find_missing_limits
from nl2sql.deadline import ending_in
from nl2sql.errors import DatabaseUnavailable, InsecureRole
from nl2sql.types import Diagnostic, Explained, GuardedQuery, ResultSet, SessionIdentity
from serve_app.operations.checks.databases import check_role_limits
from tests.execution.conftest import Opener, Scratch
from tests.execution.expecting import expect
from tests.execution.trusted import trust


def query(sql: str, **options: Any) -> GuardedQuery:
    return trust("scratch", sql, **options)


async def run(database: PostgresDatabase, sql: str, max_rows: int = 10) -> ResultSet:
    return expect(ResultSet, await database.execute(query(sql), max_rows))


# -- rows, bytes, cells ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("repeat('x', 5000)", "x" * 1024),
        ("repeat('é', 5000)", "é" * 512),
        ("repeat('x', 1024)", "x" * 1024),
        ("repeat('x', 1025)", "x" * 1024),
        ("repeat('x', 5000)::varchar(9000)", "x" * 1024),
        ("repeat('x', 5000)::char(9000)", "x" * 1024),
        ("'ab'::char(9000)", "ab".ljust(1024)),
        ("convert_to(repeat('x', 5000), 'UTF8')", b"x" * 1024),
        ("to_jsonb(repeat('x', 5000))", None),
        ("ROW(repeat('x', 5000))", None),
        ("repeat('9', 5000)::numeric", None),
        ("ARRAY[repeat('x', 5000)]", None),
        ("repeat('1', 5000)::varbit", None),
    ],
)
async def test_a_long_cell_ends_early_or_is_withheld_and_is_told(
    expression: str, expected: object, open_database: Opener
) -> None:
    result = await run(open_database(cell_bytes=1024), f"SELECT 1 AS n, {expression} AS v")
    assert result.rows == ((1, expected),)
    is_whole = expression == "repeat('x', 1024)"
    assert result.cut == (() if is_whole else ((0, 1),))
    assert not result.truncated


async def test_a_giant_cell_never_comes_into_memory(open_database: Opener) -> None:
    database = open_database(statement_timeout_ms=20_000)
    await run(database, "SELECT 1")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # random() keeps the planner from making the text itself.
    giant = "repeat('x', (2e8 + random())::integer)"
    for expression in (giant, f"ARRAY[{giant}]"):
        result = await run(database, f"SELECT {expression} AS v")
        assert result.cut == ((0, 0),)
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert kilobytes < 30_000


async def test_many_long_cells_share_the_bytes_of_a_result(open_database: Opener) -> None:
    # Not of constants, which the plan would write out in each column of each step.
    columns = ", ".join(f"v AS v{at}" for at in range(1600))
    result = await run(
        open_database(result_bytes=2**20),
        f"SELECT {columns} FROM (SELECT repeat('x', 100000 + n % 1) AS v "
        "FROM generate_series(1, 5) AS g(n)) AS s",
    )
    assert [len(str(cell)) for cell in result.rows[0]] == [2**20 // 1600] * 1600
    assert (len(result.rows), result.truncated, len(result.cut)) == (1, True, 1600)


# -- time --------------------------------------------------------------------------------------


async def test_every_transaction_has_its_limits(open_database: Opener) -> None:
    database = open_database(statement_timeout_ms=4321)
    names = (
        *("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"),
        *("transaction_timeout", "work_mem", "transaction_read_only", "TimeZone"),
    )
    settings = ", ".join(f"current_setting('{name}')" for name in names)
    assert (await run(database, f"SELECT {settings}")).rows == (
        ("4321ms", "2s", "10s", "18642ms", "32MB", "on", "UTC"),
    )


async def test_a_statement_has_no_more_time_than_its_request(open_database: Opener) -> None:
    database = open_database(statement_timeout_ms=60_000)
    await run(database, "SELECT 1")
    async with ending_in(2.0):
        # Nobody cancels it when the time is over.
        late = asyncio.create_task(database.execute(query("SELECT pg_sleep(60)"), 1))
        shown = await run(database, "SELECT current_setting('statement_timeout')")
    result = expect(Diagnostic, await late)
    assert result.sqlstate == "57014"
    ((timeout,),) = shown.rows
    assert 0 < int(str(timeout).removesuffix("ms")) < 2000
    # The next request has all of its time.
    assert (await run(database, "SELECT current_setting('statement_timeout')")).rows == (("1min",),)


async def test_planning_ends_at_the_time_limit_too(open_database: Opener) -> None:
    database = open_database(statement_timeout_ms=200)
    # The planner calls what is immutable.
    asked = query("SELECT lab.dawdle()")
    for answer in (await database.explain(asked), await database.execute(asked, 1)):
        assert isinstance(answer, Diagnostic)
        assert answer.sqlstate == "57014"


async def test_a_table_that_somebody_changes_is_not_waited_for_long(
    open_database: Opener, scratch: Scratch
) -> None:
    database = open_database(statement_timeout_ms=10_000)
    with psycopg.connect(scratch.admin_url) as admin:
        admin.execute("LOCK TABLE lab.people IN ACCESS EXCLUSIVE MODE")
        result = await database.execute(query("SELECT * FROM lab.people"), 1)
    assert isinstance(result, Diagnostic)
    assert result.sqlstate == "55P03"


# -- what the plan expects ---------------------------------------------------------------------

PEOPLE = "FROM lab.people AS a, generate_series(1, 100000) AS b, generate_series(1, 100000) AS c"


@pytest.mark.parametrize("restricted", [False, True])
async def test_a_product_that_would_never_end_is_not_begun(
    restricted: bool, open_database: Opener
) -> None:
    database = open_database()
    for sql in (f"SELECT count(*) {PEOPLE}", f"SELECT count(*) {PEOPLE} WHERE b + c + a.id = 7"):
        asked = query(sql, restricted=restricted)
        for answer in (await database.execute(asked, 10), await database.explain(asked)):
            assert isinstance(answer, Diagnostic)
            assert answer.sqlstate == "54001"
            assert "50,000,000 allowed" in answer.message
            assert ("(" in answer.message) is not restricted


async def test_the_first_page_of_a_product_is_no_large_query(open_database: Opener) -> None:
    database = open_database()
    assert isinstance(await database.explain(query(f"SELECT b {PEOPLE}")), Explained)
    result = await run(database, f"SELECT b {PEOPLE}", max_rows=3)
    assert (len(result.rows), result.truncated) == (3, True)


# -- the role ----------------------------------------------------------------------------------


async def test_a_query_runs_as_the_role_of_its_policies(open_database: Opener) -> None:
    database = open_database()
    sql = "SELECT current_user::text, current_setting('lab.person'), name FROM lab.people"
    identity = SessionIdentity("lab_member", (("lab.person", "2"),))
    for _ in range(2):
        result = expect(ResultSet, await database.execute(query(sql, session=identity), 10))
        assert result.rows == (("lab_member", "2", "Novak"),)
    expect(Explained, await database.explain(query(sql, session=identity)))
    # Nothing of it is left to the next query on the same connection.
    after = "SELECT current_user::text, coalesce(current_setting('lab.person', true), '')"
    assert (await run(database, after)).rows == (("quorumsql_reader", ""),)
    assert len((await run(database, "SELECT name FROM lab.people")).rows) == 3


@pytest.mark.parametrize("role", ["lab_stranger", "nobody_at_all", "postgres"])
async def test_a_role_that_cannot_be_taken_on_runs_nothing(
    role: str, open_database: Opener
) -> None:
    database = open_database()
    asked = query("SELECT 1", session=SessionIdentity(role))
    for answer in (database.execute(asked, 1), database.explain(asked)):
        with pytest.raises(DatabaseUnavailable, match=role):
            await answer
    assert (await run(database, "SELECT 1")).rows == ((1,),)


@pytest.mark.parametrize(
    "grant",
    [
        "GRANT INSERT ON lab.target TO {role}",
        "ALTER TABLE lab.target OWNER TO {role}",
        "ALTER ROLE {role} BYPASSRLS",
        "ALTER ROLE {role} SUPERUSER",
        "GRANT pg_write_all_data TO {role}",
        "GRANT pg_read_server_files TO {role}",
    ],
)
@pytest.mark.parametrize("role", ["lab_writer", "lab_group"])
async def test_a_role_that_could_write_is_not_used_nor_one_that_may_become_it(
    grant: str, role: str, scratch: Scratch, open_database: Opener
) -> None:
    url = scratch.reader_url.replace("quorumsql_reader", "lab_writer")
    with psycopg.connect(scratch.admin_url, autocommit=True) as admin:
        admin.execute("CREATE ROLE lab_group NOLOGIN")
        admin.execute("CREATE TABLE lab.target (id integer, note text)")
        try:
            # A role that does not inherit the group's rights, but may become it.
            admin.execute("GRANT lab_group TO lab_writer WITH INHERIT FALSE, SET TRUE")
            assert (await run(open_database(url=url), "SELECT 1")).rows == ((1,),)
            admin.execute(grant.format(role=role).encode())
            database = open_database(url=url)
            with pytest.raises(InsecureRole, match="lab_writer"):
                await database.execute(query("SELECT 1"), 1)
            assert "lab_writer" in await database.probe()
        finally:
            admin.execute("DROP TABLE lab.target")
            for given in ("pg_write_all_data", "pg_read_server_files"):
                admin.execute(f"REVOKE {given} FROM lab_writer, lab_group".encode())
            admin.execute("ALTER ROLE lab_writer NOSUPERUSER NOBYPASSRLS")
            admin.execute("DROP ROLE lab_group")


def test_the_limit_that_only_the_role_can_have_is_asked_for(scratch: Scratch) -> None:
    assert find_missing_limits(scratch.reader_url, "scratch") == ()
    assert check_role_limits("scratch", scratch.reader_url) == []
    url = scratch.reader_url.replace("quorumsql_reader", "lab_writer")
    assert find_missing_limits(url, "scratch") == ("temp_file_limit",)
    (check,) = check_role_limits("scratch", url)
    assert (check.status, check.name) == ("warning", "role")
    assert "ALTER ROLE lab_writer SET temp_file_limit" in check.remedy
