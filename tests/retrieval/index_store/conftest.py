"""An index of its own on the embedded server, so that a test may drop everything in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import psycopg
import pytest

from execution.postgres.embedded import INDEXER, SUPERUSER, EmbeddedServer
from retrieval.index_store.store import IndexStore


@pytest.fixture
def index_url(embedded_server: EmbeddedServer) -> str:
    """The URL of an empty index."""
    return create_index(embedded_server, "empty_index")


@pytest.fixture
async def store(index_url: str) -> AsyncIterator[IndexStore]:
    """A store over it, set up and with nothing in it."""
    built = IndexStore(index_url)
    await built.prepare()
    yield built
    await built.close()


def execute(url: str, *statements: str | bytes) -> list[tuple[Any, ...]]:
    """Runs statements, each in a transaction of its own; the rows of the last one."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            text = statement if isinstance(statement, bytes) else statement.encode()
            cursor = connection.execute(text)
        return cursor.fetchall() if cursor.description else []


def create_index(server: EmbeddedServer, name: str) -> str:
    """A database that the index's role owns, with pgvector and no index; its URL.

    One that is there already is emptied, which takes a fifth of the time of a new one.
    """
    server.create_database(name, owner=INDEXER)
    execute(
        server.url(name, SUPERUSER),
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
        "CREATE EXTENSION IF NOT EXISTS vector",
        "DROP SCHEMA IF EXISTS quorumsql CASCADE",
    )
    return server.url(name, INDEXER)
