"""Queries that do the same have one fingerprint, whatever their aliases; others do not."""

from __future__ import annotations

import psycopg
import pytest

from execution.postgres.database import PostgresDatabase
from nl2sql.types import Diagnostic, Explained
from tests.execution.conftest import Opener, Scratch
from tests.execution.trusted import trust


async def fingerprint(database: PostgresDatabase, sql: str, *params: object) -> str:
    explained = await database.explain(trust("scratch", sql, params=params), identify=True)
    assert isinstance(explained, Explained), explained
    return explained.plan


ONE = "SELECT a.name FROM lab.people AS a WHERE a.name > 'a.x' ORDER BY a.name LIMIT 3"
RENAMED = ONE.replace("a.name", "z.name").replace("AS a", "AS z")


@pytest.mark.parametrize(
    ("other", "same"),
    [
        pytest.param(ONE, True, id="itself"),
        pytest.param(RENAMED, True, id="alias"),
        pytest.param(ONE.replace("LIMIT 3", "LIMIT 4"), False, id="limit"),
        pytest.param(ONE.replace("'a.x'", "'z.x'"), False, id="constant"),
        pytest.param(RENAMED.replace("'a.x'", "'z.x'"), False, id="constant_like_the_alias"),
        pytest.param(ONE.replace("SELECT a.name", "SELECT count(a.name)").split(" ORDER")[0], False,
                     id="output"),
        pytest.param(ONE.replace("ORDER BY a.name", "ORDER BY a.name DESC"), False, id="order"),
        pytest.param(ONE.replace(" LIMIT 3", ""), False, id="no_limit"),
        pytest.param(ONE.replace("LIMIT 3", "LIMIT 3 OFFSET 1"), False, id="offset"),
    ],
)  # fmt: skip
async def test_the_fingerprint_is_of_what_a_query_does(
    open_database: Opener, other: str, same: bool
) -> None:
    database = open_database()
    assert (await fingerprint(database, ONE) == await fingerprint(database, other)) is same


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT row_number() OVER (ORDER BY name) FROM lab.people",
        "SELECT * FROM (VALUES (1), (2)) AS v(x)",
        "SELECT name FROM lab.people TABLESAMPLE SYSTEM (50)",
    ],
)
async def test_a_plan_that_does_not_tell_all_has_none(open_database: Opener, sql: str) -> None:
    assert await fingerprint(open_database(), sql) == ""


async def test_values_that_are_bound_count(open_database: Opener) -> None:
    database = open_database()
    sql = "SELECT name FROM lab.people WHERE name > $1"
    assert await fingerprint(database, sql, "a") == await fingerprint(database, sql, "a")
    assert await fingerprint(database, sql, "a") != await fingerprint(database, sql, "b")


async def test_a_query_that_must_not_run_tells_what_was_expected(open_database: Opener) -> None:
    database = open_database(max_estimated_rows=1000)
    product = "SELECT count(*) FROM lab.people a, lab.people b, lab.people c, lab.people d"
    asked = trust("scratch", product)
    identified = await database.explain(asked, identify=True)
    for answer in (identified, await database.explain(asked), await database.execute(asked, 1)):
        assert isinstance(answer, Diagnostic)
        assert answer.sqlstate == "54001"
        assert answer.explained is not None
        # Reading the query for it costs more than all else here, so it is made for who asks.
        assert (answer.explained.plan != "") == (answer is identified)


async def test_tables_of_one_name_in_two_schemas_are_two(
    open_database: Opener, scratch: Scratch
) -> None:
    with psycopg.connect(scratch.admin_url, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA lab2")
        try:
            admin.execute("CREATE TABLE lab2.people (LIKE lab.people INCLUDING ALL)")
            admin.execute("GRANT USAGE ON SCHEMA lab2 TO PUBLIC")
            admin.execute("GRANT SELECT ON lab2.people TO PUBLIC")
            database = open_database()
            one = await fingerprint(database, "SELECT name FROM lab.people")
            assert one != await fingerprint(database, "SELECT name FROM lab2.people")
        finally:
            admin.execute("DROP SCHEMA lab2 CASCADE")
