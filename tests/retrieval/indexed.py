"""Indexes that a test has just built or expects to be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from nl2sql.catalog import Catalog
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.indexed_database import IndexedDatabase
from retrieval.index_store.store import IndexStore
from retrieval.indexing import update_index
from tests.fakes import SHOP, FakeEmbedder


async def index_database(
    catalog: Catalog,
    store: IndexStore,
    embedder: Embedder,
    *,
    glosses: Mapping[str, str] = MappingProxyType({}),
    on_wait: Callable[[], None] = lambda: None,
) -> int | None:
    """Updates the index of the catalog's database to the catalog and the glosses."""
    await store.prepare()
    fingerprint = replace(catalog, inferred_keys=()).fingerprint
    async with store.writer(catalog.database, on_wait) as writer:
        return await update_index(
            writer,
            embedder,
            catalog,
            glosses,
            present=await writer.load(),
            fingerprint=fingerprint,
        )


async def index(
    store: IndexStore, catalog: Catalog = SHOP, embedder: Embedder | None = None
) -> IndexedDatabase:
    """Indexes a catalog; returns what is live afterwards."""
    await index_database(catalog, store, embedder or FakeEmbedder())
    return await store.load(catalog.database)
