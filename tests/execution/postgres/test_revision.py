"""The revision of the data, on a real PostgreSQL: everything that changes rows changes it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest

from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.errors import DatabaseUnavailable
from nl2sql.settings import LimitSettings
from tests.oracle.postgres_copies import open_superuser

DATABASE = "revised"
LIMITS = LimitSettings(pool_size=2)
# The server of the tests vacuums in the background now and then, which is a transaction too.
TRIES = 20


@pytest.fixture(scope="module")
def server(embedded_server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    with open_superuser(embedded_server, "postgres") as admin:
        admin.execute(f"CREATE DATABASE {DATABASE}".encode())
    yield embedded_server
    embedded_server.drop_database(DATABASE)


@pytest.fixture
def admin(server: EmbeddedServer) -> Iterator[psycopg.Connection]:
    with open_superuser(server, DATABASE) as connection:
        connection.execute("DROP SCHEMA IF EXISTS shop CASCADE; CREATE SCHEMA shop")
        connection.execute("CREATE TABLE shop.orders (id int, total int)")
        yield connection
        connection.execute("DROP SCHEMA shop CASCADE")


@pytest.fixture
async def database(
    server: EmbeddedServer, admin: psycopg.Connection
) -> AsyncIterator[PostgresDatabase]:
    database = PostgresDatabase(DATABASE, server.url(DATABASE, READER), LIMITS)
    yield database
    await database.close()


async def settle(database: PostgresDatabase) -> str:
    """A revision that was read twice."""
    for _ in range(TRIES):
        first = await database.revision()
        if first == await database.revision():
            return first
    raise AssertionError("The revision never stays.")


async def test_it_stays_while_nothing_is_written(database: PostgresDatabase) -> None:
    assert await settle(database)


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO shop.orders VALUES (1, 2)",
        "TRUNCATE shop.orders",
        "ALTER TABLE shop.orders ADD COLUMN note text",
        "CREATE VIEW shop.recent AS SELECT 1 AS one",
        "GRANT SELECT ON shop.orders TO PUBLIC",
        "ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY",
    ],
)
async def test_every_commit_changes_it(
    database: PostgresDatabase, admin: psycopg.Connection, change: str
) -> None:
    before = await settle(database)
    admin.execute(change.encode())
    after = await settle(database)
    assert before
    assert after not in ("", before)


async def test_it_does_not_return_when_a_change_is_undone(
    database: PostgresDatabase, admin: psycopg.Connection
) -> None:
    seen = [await settle(database)]
    for change in ("INSERT INTO shop.orders VALUES (7)", "DELETE FROM shop.orders WHERE id = 7"):
        admin.execute(change.encode())
        seen.append(await settle(database))
    assert len(set(seen)) == 3


async def test_the_end_of_any_open_transaction_changes_it(
    database: PostgresDatabase, server: EmbeddedServer, admin: psycopg.Connection
) -> None:
    with open_superuser(server, DATABASE) as other:
        for connection in (admin, other):
            connection.autocommit = False
            connection.execute("INSERT INTO shop.orders VALUES (1)")
        before = await settle(database)
        # The later one first, so that the other is one of a list.
        other.commit()
        between = await settle(database)
        admin.commit()
        after = await settle(database)
    admin.autocommit = True
    assert len({before, between, after}) == 3


async def test_a_checkpoint_changes_it_since_a_recovery_ends_with_one(
    database: PostgresDatabase, admin: psycopg.Connection
) -> None:
    admin.execute("INSERT INTO shop.orders VALUES (1)")
    before = await settle(database)
    admin.execute("CHECKPOINT")
    assert await settle(database) != before


async def test_the_configuration_belongs_to_it(
    database: PostgresDatabase, admin: psycopg.Connection
) -> None:
    before = await settle(database)
    admin.execute("SELECT pg_reload_conf()")
    for _ in range(200):
        if (after := await database.revision()) != before:
            break
    assert after


@pytest.mark.parametrize(
    "change",
    [
        # It may call any function.
        "ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY;"
        "CREATE POLICY recent ON shop.orders USING (now() > '2024-01-01')",
        # A partition in another database.
        "CREATE TABLE shop.parts (id int) PARTITION BY LIST (id);"
        "CREATE FOREIGN DATA WRAPPER nowhere; CREATE SERVER far FOREIGN DATA WRAPPER nowhere;"
        "CREATE FOREIGN TABLE shop.part PARTITION OF shop.parts FOR VALUES IN (1) SERVER far",
    ],
)
async def test_it_is_unknown_where_equal_snapshots_do_not_mean_equal_rows(
    database: PostgresDatabase, admin: psycopg.Connection, change: str
) -> None:
    admin.execute(change.encode())
    assert await database.revision() == ""
    admin.execute("DROP FOREIGN DATA WRAPPER IF EXISTS nowhere CASCADE")
    admin.execute("DROP POLICY IF EXISTS recent ON shop.orders")
    assert await database.revision()


async def test_our_own_policies_do_not_matter(
    database: PostgresDatabase, admin: psycopg.Connection
) -> None:
    admin.execute("ALTER TABLE shop.orders ENABLE ROW LEVEL SECURITY")
    admin.execute("CREATE POLICY quorumsql_others ON shop.orders USING (true)")
    assert await database.revision()


async def test_several_servers_have_no_revision(server: EmbeddedServer) -> None:
    database = PostgresDatabase("two", "postgresql://one.invalid,two.invalid/shop", LIMITS)
    assert await database.revision() == ""


async def test_a_server_that_is_gone_has_none() -> None:
    database = PostgresDatabase("gone", "postgresql://127.0.0.1:1/shop", LIMITS)
    with pytest.raises(DatabaseUnavailable):
        await database.revision()
    await database.close()
