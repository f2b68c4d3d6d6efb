"""Odd schemas in the real index: what is read is what the index gives back."""

from __future__ import annotations

from pathlib import Path

import pytest

from execution.postgres.embedded import INDEX_DATABASE, INDEXER, EmbeddedServer
from nl2sql.catalog import Catalog
from retrieval.index_store.store import IndexStore
from retrieval.indexing import index_database
from tests.fakes import FakeEmbedder
from tests.retrieval.odd_schemas.building import (
    build_on_duckdb,
    build_on_postgres,
    build_on_sqlite,
    read_on_duckdb,
    read_on_postgres,
    read_on_sqlite,
)
from tests.retrieval.odd_schemas.file_schemas import ODD_DUCKDB_SCHEMAS, ODD_SQLITE_SCHEMAS
from tests.retrieval.odd_schemas.postgres_schemas import ODD_SCHEMAS

_POSTGRES = {odd.name: odd for odd in ODD_SCHEMAS}
_SQLITE = {odd.name: odd for odd in ODD_SQLITE_SCHEMAS}
_DUCKDB = {odd.name: odd for odd in ODD_DUCKDB_SCHEMAS}


def _read(dialect: str, name: str, server: EmbeddedServer, folder: Path) -> Catalog:
    if dialect == "sqlite":
        return read_on_sqlite(build_on_sqlite(folder, _SQLITE[name]), _SQLITE[name])
    if dialect == "duckdb":
        return read_on_duckdb(build_on_duckdb(folder, _DUCKDB[name]), _DUCKDB[name])
    build_on_postgres(server, _POSTGRES[name])
    return read_on_postgres(server, _POSTGRES[name])


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("postgres", "odd_names"),
        ("postgres", "comments"),
        ("postgres", "wide"),
        ("postgres", "cycles"),
        ("postgres", "dots"),
        ("postgres", "empty"),
        ("sqlite", "odd_names"),
        ("sqlite", "types"),
        ("duckdb", "comments"),
        ("duckdb", "types"),
    ],
)
async def test_an_odd_schema_survives_the_index(
    dialect: str, name: str, odd_server: EmbeddedServer, tmp_path: Path
) -> None:
    catalog = _read(dialect, name, odd_server, tmp_path)
    store = IndexStore(odd_server.url(INDEX_DATABASE, INDEXER))
    try:
        first = await index_database(catalog, store, FakeEmbedder())
        again = await index_database(catalog, store, FakeEmbedder())
        assert (first.changed, again.changed, again.embedded) == (True, False, 0)
        index = await store.load(name)
        assert index is not None
        assert index.catalog == catalog
        assert await store.drop(name)
    finally:
        await store.close()
