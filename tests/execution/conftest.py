"""A scratch database of the embedded server: types, functions and rows that no demo has."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass

import pytest

from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.settings import LimitSettings
from tests.embedded_databases import fill_database

_SCHEMA = """
CREATE SCHEMA lab;
CREATE TYPE lab.mood AS ENUM ('sad', 'so, so', 'happy');
CREATE TYPE lab.pair AS (a integer, b text);
CREATE DOMAIN lab.short AS varchar(5);
CREATE EXTENSION IF NOT EXISTS vector;

CREATE TABLE lab.people (id integer PRIMARY KEY, name text NOT NULL, salary integer NOT NULL);
INSERT INTO lab.people VALUES (1, 'Miller', 777), (2, 'Novak', 778), (3, 'Ödegård', 2147483647);

CREATE MATERIALIZED VIEW lab.unfilled AS SELECT name FROM lab.people WITH NO DATA;

CREATE FUNCTION lab.complain(word text) RETURNS integer LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'no such column: %', word
   USING ERRCODE = '42703', HINT = word, DETAIL = word; END $$;
CREATE FUNCTION lab.complain_early() RETURNS integer IMMUTABLE LANGUAGE plpgsql AS
$$ DECLARE word text; BEGIN SELECT name INTO word FROM lab.people WHERE id = 1;
   RAISE EXCEPTION 'no such column: %', word USING ERRCODE = '42703'; END $$;
CREATE FUNCTION lab.dawdle() RETURNS integer IMMUTABLE LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_sleep(10); RETURN 1; END $$;

CREATE TABLE lab.partly (id integer, "Pay" integer, note text);

CREATE ROLE lab_member NOLOGIN;
CREATE ROLE lab_stranger NOLOGIN;
CREATE ROLE lab_writer LOGIN;
GRANT lab_member TO {reader};
GRANT USAGE ON SCHEMA lab TO lab_member, lab_writer;
GRANT SELECT ON lab.people TO lab_member, lab_writer;
ALTER TABLE lab.people ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_rows ON lab.people TO {reader}, lab_writer USING (true);
CREATE POLICY own_row ON lab.people TO lab_member
  USING (id = current_setting('lab.person')::integer);
"""


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
