"""Indexes that a test has just built or expects to be there."""

from __future__ import annotations

from nl2sql.catalog import Catalog
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.generations import IndexedDatabase
from retrieval.index_store.store import IndexStore
from retrieval.indexing import index_database
from tests.fakes import SHOP, FakeEmbedder


async def index(
    store: IndexStore, catalog: Catalog = SHOP, embedder: Embedder | None = None
) -> IndexedDatabase:
    """Indexes a catalog; returns what is live afterwards."""
    await index_database(catalog, store, embedder or FakeEmbedder())
    return await load(store, catalog.database)


async def load(store: IndexStore, database: str = "shop") -> IndexedDatabase:
    """The live index of a database, which has one."""
    found = await store.load(database)
    assert found is not None
    return found
