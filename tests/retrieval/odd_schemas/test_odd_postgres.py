"""Odd schemas on a real PostgreSQL: each is indexed or reported, and none crashes."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, EmbeddedServer
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic
from tests.retrieval.odd_schemas.building import build_on_postgres, read_on_postgres
from tests.retrieval.odd_schemas.odd_schema import OddSchema
from tests.retrieval.odd_schemas.postgres_schemas import ODD_SCHEMAS
from tests.retrieval.odd_schemas.walk import OddDatabase, list_skipped

# The wrapper behind it has no code.
_UNREADABLE = {"public.far"}


@pytest.fixture(scope="module", params=ODD_SCHEMAS, ids=lambda odd: odd.name)
def odd(request: pytest.FixtureRequest, odd_server: EmbeddedServer) -> OddSchema:
    """Each schema in turn, made."""
    found: OddSchema = request.param
    build_on_postgres(odd_server, found)
    return found


@pytest.fixture
async def database(odd: OddSchema, odd_server: EmbeddedServer) -> AsyncIterator[OddDatabase]:
    """The schema in turn, indexed."""
    catalog = read_on_postgres(odd_server, odd)
    url = odd_server.url(odd.name, READER)
    reader = PostgresDatabase(odd.name, url, LimitSettings(), search_path=catalog.search_path)
    built = OddDatabase(catalog, reader)
    await built.index()
    yield built
    await reader.close()


def test_each_is_indexed_or_reported(odd: OddSchema, database: OddDatabase) -> None:
    found = sorted(table.qualified for table in database.catalog.tables)
    assert found == sorted(odd.tables) or odd.name == "keywords"
    assert list_skipped(database.catalog) == sorted(odd.skipped)


async def test_each_table_can_be_asked_for(database: OddDatabase) -> None:
    await database.ask_for_tables()


async def test_where_nothing_can_be_seen_a_question_is_refused(database: OddDatabase) -> None:
    walked = await database.ask("How many orders are there?")
    name = database.catalog.database
    refusal = "" if database.catalog.tables else f"There is no table in {name} that you may see."
    assert walked.context.refusal == refusal


async def test_each_name_in_the_prompt_is_one_that_the_database_finds(
    database: OddDatabase,
) -> None:
    for table in database.catalog.tables:
        result = await database.read(table)
        if table.qualified in _UNREADABLE:
            assert isinstance(result, Diagnostic)
        else:
            assert not isinstance(result, Diagnostic), (result, table.qualified)
