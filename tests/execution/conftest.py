"""A scratch database of the embedded server: types, functions and rows that no demo has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass

import pytest

from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.settings import LimitSettings
from tests.embedded_databases import fill_database
from tests.golden import load_text

_SCHEMA = load_text("schemas/lab.sql")


@dataclass(frozen=True, slots=True)
class Scratch:
    """The database ``scratch``, whose schema ``lab`` the reader may read."""

    reader_url: str
    admin_url: str


@pytest.fixture(scope="session")
def scratch(embedded_server: EmbeddedServer) -> Iterator[Scratch]:
    """The database, made anew."""
    roles = "DROP ROLE IF EXISTS lab_member, lab_stranger, lab_writer;"
    partly = (
        f"REVOKE SELECT ON lab.partly FROM {READER};"
        f"GRANT SELECT (id, note) ON lab.partly TO {READER}"
    )
    script = roles + _SCHEMA.format(reader=READER)
    with fill_database(embedded_server, "scratch", script, partly) as admin_url:
        yield Scratch(embedded_server.url("scratch", READER), admin_url)


Opener = Callable[..., PostgresDatabase]


@pytest.fixture
async def open_database(scratch: Scratch) -> AsyncIterator[Opener]:
    """Opens databases to the scratch database, with limits given by name, and closes them."""
    databases: list[PostgresDatabase] = []
    settings = {"statement_timeout_ms": 30_000, "pool_size": 2}

    def open_(*, url: str = scratch.reader_url, **limits: int) -> PostgresDatabase:
        databases.append(
            PostgresDatabase(
                "scratch", url, LimitSettings(**{**settings, **limits}), search_path=("lab",)
            )
        )
        return databases[-1]

    yield open_
    for database in databases:
        await _close(database.close)


async def _close(close: Callable[[], Awaitable[None]]) -> None:
    await close()
