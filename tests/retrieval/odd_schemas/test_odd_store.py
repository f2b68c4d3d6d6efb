"""Odd schemas in the real index: what is read is what the index gives back."""

from __future__ import annotations

from pathlib import Path

import pytest

from execution.postgres.embedded import INDEX_DATABASE, INDEXER, EmbeddedServer
from nl2sql.catalog import Catalog
from retrieval.index_store.store import IndexStore
from retrieval.indexing import index_database
from tests.fakes import FakeEmbedder
from tests.retrieval.indexed import load
from tests.retrieval.odd_schemas.building import (
    build_file,
    build_on_postgres,
    find_odd,
    read_file,
    read_on_postgres,
)


def _read(dialect: str, name: str, server: EmbeddedServer, folder: Path) -> Catalog:
    odd = find_odd(dialect, name)
    if dialect != "postgres":
        return read_file(build_file(dialect, folder, odd), odd)
    build_on_postgres(server, odd)
    return read_on_postgres(server, odd)


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
        assert (await load(store, name)).catalog == catalog
        assert await store.drop(name)
    finally:
        await store.close()
