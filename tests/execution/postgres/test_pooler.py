"""PostgreSQL behind PgBouncer, whose connections serve others between two transactions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import psycopg
import pytest

from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import INDEXER, READER, EmbeddedServer
from nl2sql.errors import DatabaseUnavailable
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, ResultSet
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.postgres.source import PostgresSource
from tests.execution.conftest import Scratch
from tests.execution.expecting import expect
from tests.execution.trusted import trust
from tests.pgbouncer import aim, pooled

SETTINGS = "search_path statement_timeout transaction_read_only role TimeZone".split()
SHOWN = ", ".join(f"current_setting('{name}')" for name in SETTINGS)


@pytest.fixture(scope="module", params=["session", "transaction"])
def address(request: pytest.FixtureRequest, embedded_server: EmbeddedServer) -> Iterator[str]:
    with pooled(embedded_server, request.param) as address:
        yield address


def list_left(url: str) -> set[tuple[object, ...]]:
    """The settings that the next user of each of the pooler's connections finds."""
    with psycopg.connect(url) as one, psycopg.connect(url) as other:
        rows = [each.execute(f"SELECT {SHOWN}".encode()).fetchone() for each in (one, other)]
    return {row for row in rows if row is not None}


async def test_many_questions_at_once_share_two_connections(scratch: Scratch, address: str) -> None:
    url = aim(scratch.reader_url, address)
    before = list_left(url)
    limits = LimitSettings(statement_timeout_ms=4321, pool_size=8)
    database = PostgresDatabase("scratch", url, limits, search_path=("lab",))
    queries = [trust("scratch", f"SELECT {at}, {SHOWN}, name FROM people") for at in range(30)]
    found = await asyncio.gather(*(database.execute(query, 1) for query in queries))
    await database.close()
    hasty = PostgresDatabase("scratch", url, LimitSettings(statement_timeout_ms=100))
    slow = await hasty.execute(trust("scratch", "SELECT pg_sleep(60)"), 1)
    assert await hasty.probe() == ""
    await hasty.close()
    assert [expect(ResultSet, each).rows[0] for each in found] == [
        (at, "lab", "4321ms", "on", "none", "UTC", "Miller") for at in range(30)
    ]
    assert expect(Diagnostic, slow).sqlstate == "57014"
    assert list_left(url) == before


def test_what_indexing_sets_reaches_no_other_user(scratch: Scratch, address: str) -> None:
    url = aim(scratch.reader_url, address)
    before = list_left(url)
    catalog = read_postgres_catalog(url, database="scratch", reader_role=READER, schemas=("lab",))
    people = next(table for table in catalog.tables if table.name == "people")
    login = (url, "lab_member")
    source = PostgresSource("scratch", lambda: catalog, lambda: login)
    with source:
        (column, *_) = source.survey([people], most=100, longest=100)
        # More often than psycopg would do it without preparing the statement.
        for _ in range(8):
            found = source.fetch("SELECT current_user::text, 1", 1000)
            assert found == [("lab_member", 1)]
    assert column.column == "name"
    assert list_left(url) == before


async def test_a_pooler_that_knows_no_transactions_is_not_used(
    scratch: Scratch, embedded_server: EmbeddedServer
) -> None:
    with pooled(embedded_server, "statement") as address:
        database = PostgresDatabase("scratch", aim(scratch.reader_url, address), LimitSettings())
        with pytest.raises(DatabaseUnavailable) as asked:
            await database.execute(trust("scratch", "SELECT 1"), 1)
        problem = await database.probe()
        await database.close()
        url = aim(embedded_server.url("scratch", INDEXER), address)
        with pytest.raises(DatabaseUnavailable, match="statement pooling mode"):
            read_postgres_catalog(url, database="scratch", reader_role=READER)
    for said in (asked.value.said, problem):
        assert "statement pooling mode. Set this pooler to `pool_mode = transaction`" in said
