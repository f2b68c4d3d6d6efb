"""The phases of a configured database's job, on an SQLite file."""

from __future__ import annotations

from pathlib import Path

import pytest

from execution.postgres.embedded import EmbeddedServer
from serve_app.composition.wiring import Wiring
from serve_app.operations.indexing import IndexReport, index_databases
from serve_app.reporting import SilentReporter
from serve_app.settings import Settings, parse_settings
from tests.execution.sqlite.shop import write
from tests.retrieval.index_store.conftest import create_index


@pytest.fixture
def settings(tmp_path: Path, embedded_server: EmbeddedServer) -> Settings:
    """A shop whose orders name their customers without a declared key."""
    create_index(embedded_server, "job_index")
    write(
        tmp_path / "shop.sqlite",
        "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, country TEXT);"
        "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id INTEGER);"
        "INSERT INTO customers WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 129) SELECT i, 'Germany' FROM n;"
        "INSERT INTO orders SELECT customer_id + 1000, customer_id FROM customers",
    )
    return parse_settings(
        {
            "index": {"connection": {"url": "embedded:job_index"}},
            "databases": {"shop": {"reader": {"url": f"sqlite:///{tmp_path}/shop.sqlite"}}},
        }
    )


async def index(settings: Settings, server: EmbeddedServer) -> IndexReport:
    (report,) = await index_databases(
        Wiring(settings, server.socket_folder), ["shop"], SilentReporter()
    )
    return report


async def test_keys_are_inferred_once_for_a_schema(
    settings: Settings, embedded_server: EmbeddedServer, tmp_path: Path
) -> None:
    first = await index(settings, embedded_server)
    assert (first.tables, first.notes) == (2, ("1 key inferred", "1 value of 1 column"))
    write(tmp_path / "shop.sqlite", "DELETE FROM customers")
    # The rows speak against it now, but the schema is the same.
    again = await index(settings, embedded_server)
    assert (again.notes[0], again.is_changed) == ("1 key inferred", False)
