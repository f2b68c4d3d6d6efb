"""Indexes that a test has just built or expects to be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from nl2sql.catalog import Catalog
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.generations import IndexedDatabase
from retrieval.index_store.store import IndexStore
from retrieval.indexing import CORE_PHASES, Draft, IndexingResources, IndexReport, Phase, run_job
from tests.fakes import SHOP, FakeEmbedder


async def index_database(
    catalog: Catalog,
    store: IndexStore,
    embedder: Embedder,
    *,
    glosses: Mapping[str, str] | None = None,
    progress: Callable[[str, int, int], None] = lambda phase, done, total: None,
) -> IndexReport:
    """Updates the index of the catalog's database to the catalog and the glosses."""

    async def start(draft: Draft, resources: IndexingResources) -> Draft:
        return replace(
            draft,
            catalog=catalog,
            fingerprint=replace(catalog, inferred_keys=()).fingerprint,
            skipped=catalog.skipped,
            glosses=glosses or {},
        )

    phases = (Phase("schema", start), *CORE_PHASES)
    return await run_job(catalog.database, phases, store, embedder, progress=progress)


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
