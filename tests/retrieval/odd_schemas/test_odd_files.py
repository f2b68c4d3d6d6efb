"""Odd schemas in SQLite and DuckDB files: each is indexed or reported, and none crashes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.sqlite.database import SqliteDatabase
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic
from tests.retrieval.odd_schemas.building import build_file, list_cases, read_file
from tests.retrieval.odd_schemas.odd_schema import OddSchema
from tests.retrieval.odd_schemas.walk import OddDatabase, list_skipped

_LIMITS = LimitSettings(pool_size=1, duckdb_memory_mib=256)


@pytest.fixture(scope="module", params=list_cases("sqlite", "duckdb"))
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[OddSchema, Catalog, Path]:
    """Each schema in turn, made and read."""
    dialect, odd = request.param
    path = build_file(dialect, tmp_path_factory.mktemp(dialect), odd)
    return odd, read_file(path, odd), path


@pytest.fixture
async def database(made: tuple[OddSchema, Catalog, Path]) -> AsyncIterator[OddDatabase]:
    """The schema in turn, indexed."""
    odd, catalog, path = made
    reader: Database = (
        SqliteDatabase(odd.name, path, _LIMITS)
        if catalog.dialect == "sqlite"
        else DuckDbDatabase(odd.name, path, _LIMITS)
    )
    built = OddDatabase(catalog, reader)
    await built.index()
    yield built
    await reader.close()


def test_each_is_indexed_or_reported(made: tuple[OddSchema, Catalog, Path]) -> None:
    odd, catalog, _ = made
    assert sorted(table.qualified for table in catalog.tables) == sorted(odd.tables)
    assert list_skipped(catalog) == sorted(odd.skipped)


async def test_each_table_can_be_asked_for(database: OddDatabase) -> None:
    await database.ask_for_tables()


async def test_each_name_in_the_prompt_is_one_that_the_database_finds(
    database: OddDatabase,
) -> None:
    for table in database.catalog.tables:
        result = await database.read(table)
        assert not isinstance(result, Diagnostic), (result, table.qualified)
