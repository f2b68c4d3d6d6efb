"""The schema of the tests as a real database with rows, its guard and an empty index."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import psycopg
import pytest

from execution.executor import ReadOnlyExecutor
from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import parse_policy
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer, grant_reader
from nl2sql.settings import LimitSettings
from nl2sql.sql.names import quote_name
from retrieval.examples.records import Verifier
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.store import IndexStore
from tests.execution.policies.shop import build_policy_value
from tests.fakes import SHOP, FakeCatalogs, FakeEmbedder
from tests.retrieval.index_store.conftest import create_index, execute

_ROWS = """
INSERT INTO sales.customers VALUES (1, 'Anna', 'DE', 'gold'), (2, 'Bert', 'FR', 'none');
INSERT INTO sales.employees VALUES (1, 'Cleo', NULL), (2, 'Dora', 1);
INSERT INTO sales.orders VALUES (1, 1, 1, '2024-05-01', 'open', 10), (2, 2, 2, '2024-06-01',
    'shipped', 20);
INSERT INTO stock.products VALUES (1, 'Trail Bike', 'bikes', 10, '{}');
"""


@dataclass(frozen=True)
class Shop:
    """Parts over the real shop. ``guard`` has its policy, ``open_guard`` has none."""

    store: IndexStore
    examples: ExampleStore
    embedder: FakeEmbedder
    guard: SqlGuard
    open_guard: SqlGuard
    executor: ReadOnlyExecutor

    def verifier(self) -> Verifier:
        """Verifies under the policy."""
        return Verifier(self.guard, self.guard, self.executor)


@pytest.fixture(scope="session")
def index_url(embedded_server: EmbeddedServer) -> str:
    """The URL of an index that is set up; the database ``example_shop`` has the shop's rows."""
    embedded_server.create_database("example_shop")
    with psycopg.connect(embedded_server.url("example_shop", SUPERUSER)) as connection:
        connection.execute("CREATE SCHEMA sales; CREATE SCHEMA stock")
        for table in SHOP.tables:
            columns = ", ".join(
                f"{quote_name(column.name)} {column.type}" for column in table.columns
            )
            connection.execute(f"CREATE TABLE {table.qualified} ({columns})".encode())
        connection.execute(_ROWS)
        grant_reader(connection)
    url = create_index(embedded_server, "example_index")
    asyncio.run(_prepare(url))
    return url


async def _prepare(url: str) -> None:
    store = IndexStore(url)
    await store.prepare()
    await store.close()


@pytest.fixture
async def shop(index_url: str, embedded_server: EmbeddedServer) -> AsyncIterator[Shop]:
    """The parts; no example is there."""
    execute(index_url, "TRUNCATE quorumsql.examples, quorumsql.feedback")
    store = IndexStore(index_url)
    url = embedded_server.url("example_shop", READER)
    reader = PostgresDatabase("shop", url, LimitSettings(), search_path=("sales", "stock"))
    value = build_policy_value()
    value["roles"]["seller"]["masked_columns"] = []
    policy = PolicySettings(parse_policy(value))
    catalogs = FakeCatalogs(SHOP)
    executor = ReadOnlyExecutor({"shop": reader})
    yield Shop(
        store,
        ExampleStore(store),
        FakeEmbedder(),
        SqlGuard(catalogs, {"shop": policy}),
        SqlGuard(catalogs),
        executor,
    )
    await executor.close()
    await store.close()
