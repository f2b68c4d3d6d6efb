"""PostgreSQL's errors as values, and what a restricted principal gets to read of them."""

from __future__ import annotations

import psycopg
import pytest

from execution.postgres.database import PostgresDatabase
from execution.postgres.errors import is_gone
from nl2sql.types import Diagnostic, GuardedQuery
from tests.execution.conftest import Opener
from tests.execution.expecting import expect
from tests.execution.trusted import trust
from tests.golden import ARROW, load_cases

SECRETS = ("Miller", "777", "778", "Ödegård", "2147483647")

CASES = [(heading.split(), sql.split(ARROW)) for heading, sql in load_cases("errors_postgres")]
LEAKS = [(sql, code[0], said) for code, (sql, said) in CASES if code[1:]]
TOLD = [(sql, code[0], words) for code, (sql, words) in CASES if not code[1:]]


def query(sql: str, *, restricted: bool) -> GuardedQuery:
    return trust("scratch", sql, restricted=restricted)


async def fail(database: PostgresDatabase, sql: str, *, restricted: bool) -> Diagnostic:
    return expect(Diagnostic, await database.execute(query(sql, restricted=restricted), 10))


@pytest.mark.parametrize(("sql", "sqlstate", "said"), LEAKS)
async def test_no_error_carries_a_cell_to_a_restricted_principal(
    sql: str, sqlstate: str, said: str, open_database: Opener
) -> None:
    database = open_database()
    open_ = await fail(database, sql, restricted=False)
    assert open_.sqlstate == sqlstate
    assert "withheld" not in open_.message
    closed = await fail(database, sql, restricted=True)
    assert closed.sqlstate == sqlstate
    assert closed.message.startswith(said)
    assert closed.hint == ""
    assert not any(secret in f"{closed.message}{closed.hint}" for secret in SECRETS)


@pytest.mark.parametrize(("sql", "sqlstate", "words"), TOLD)
async def test_what_holds_no_cell_is_told_to_all(
    sql: str, sqlstate: str, words: str, open_database: Opener
) -> None:
    database = open_database(statement_timeout_ms=300)
    for restricted in (False, True):
        error = await fail(database, sql, restricted=restricted)
        assert error.sqlstate == sqlstate
        assert words in error.message


async def test_a_view_that_was_never_filled_says_so(open_database: Opener) -> None:
    sql = "SELECT name FROM lab.unfilled"
    asked = trust("scratch", sql, tables=("lab.unfilled",))
    found = expect(Diagnostic, await open_database().execute(asked, 1))
    assert found.sqlstate == "55000"
    assert "has not been populated" in found.message
    assert "REFRESH MATERIALIZED VIEW" in found.hint


async def test_positions_count_from_the_querys_own_start(open_database: Opener) -> None:
    sql = "SELECT id, 'é', nope FROM lab.people"
    database = open_database()
    for error in (
        await fail(database, sql, restricted=True),
        await database.explain(query(sql, restricted=True)),
    ):
        assert isinstance(error, Diagnostic)
        assert error.position == sql.index("nope") + 1


@pytest.mark.parametrize(
    ("error", "gone"),
    [
        (psycopg.errors.AdminShutdown(), True),
        (psycopg.errors.CannotConnectNow(), True),
        (psycopg.errors.ConnectionFailure(), True),
        (psycopg.errors.TransactionTimeout(), True),
        (psycopg.OperationalError("server closed the connection unexpectedly"), True),
        (psycopg.errors.QueryCanceled(), False),
        (psycopg.errors.ProtocolViolation(), False),
        (psycopg.errors.UndefinedTable(), False),
    ],
)
def test_a_server_at_fault_is_told_from_a_query_at_fault(error: psycopg.Error, gone: bool) -> None:
    assert is_gone(error) is gone


async def test_a_star_over_a_column_that_may_not_be_read_is_told_apart(
    open_database: Opener,
) -> None:
    database = open_database()
    for restricted, hint in ((False, "name them instead of *"), (True, "")):
        asked = trust(
            "scratch", "SELECT * FROM lab.partly", restricted=restricted, tables=("lab.partly",)
        )
        error = expect(Diagnostic, await database.execute(asked, 10))
        assert error.sqlstate == "42501"
        assert hint in error.hint
        assert bool(error.hint) is not restricted
