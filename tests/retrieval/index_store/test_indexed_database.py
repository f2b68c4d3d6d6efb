"""An index that is replaced, runs that are broken off, and two runs at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.errors import IndexUnavailable
from retrieval.index_store.store import IndexStore
from tests.fakes import CUSTOMERS, SHOP, FakeEmbedder
from tests.retrieval.index_store.conftest import execute
from tests.retrieval.indexed import index, index_database


def build_catalog(count: int, prefix: str) -> Catalog:
    """So many tables, all named after ``prefix``, with a column of their own each."""
    tables = (
        Table("s", f"{prefix}{at}", (Column(f"{prefix}{at}", "text"),)) for at in range(count)
    )
    return Catalog("swapped", tuple(tables))


class SlowEmbedder(FakeEmbedder):
    """Waits until the test lets it go on."""

    def __init__(self) -> None:
        super().__init__()
        self.started = asyncio.Event()
        self.go_on = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text."""
        self._loop.call_soon_threadsafe(self.started.set)
        asyncio.run_coroutine_threadsafe(self.go_on.wait(), self._loop).result()
        return super().embed(texts)


def count_rows(url: str) -> tuple[int, ...]:
    tables = ("indexes", "indexed_tables", "card_vectors")
    counts = ", ".join(f"(SELECT count(*) FROM quorumsql.{table})" for table in tables)
    [found] = execute(url, f"SELECT {counts}")
    return found


async def test_an_index_that_was_replaced_or_dropped_leaves_nothing_behind(
    store: IndexStore, index_url: str
) -> None:
    embedder = FakeEmbedder()
    for prefix in ("a", "b", "c"):
        await index_database(build_catalog(5, prefix), store, embedder)
    assert count_rows(index_url) == (1, 5, 10)
    assert await store.drop("swapped")
    assert count_rows(index_url) == (0, 0, 0)
    assert not await store.drop("swapped")


async def test_a_server_that_ends_the_writer_leaves_the_old_index(
    store: IndexStore, index_url: str
) -> None:
    await index(store, build_catalog(5, "a"))
    before = count_rows(index_url)
    embedder = SlowEmbedder()
    run = asyncio.create_task(index_database(build_catalog(5, "b"), store, embedder))
    await embedder.started.wait()
    execute(
        index_url,
        "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid)"
        " WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()"
        " AND datname = current_database()",
    )
    embedder.go_on.set()
    with pytest.raises(IndexUnavailable):
        await run
    stored = await store.load("swapped")
    assert stored.catalog == build_catalog(5, "a")
    assert count_rows(index_url) == before
    assert await index_database(build_catalog(5, "b"), store, FakeEmbedder()) is not None


async def test_the_second_of_two_runs_waits_and_finds_it_done(
    store: IndexStore, index_url: str
) -> None:
    first, second = SlowEmbedder(), FakeEmbedder()
    is_waiting = asyncio.Event()

    other = IndexStore(index_url)
    one = asyncio.create_task(index_database(SHOP, store, first))
    await first.started.wait()
    two = asyncio.create_task(index_database(SHOP, other, second, on_wait=is_waiting.set))
    await is_waiting.wait()
    # Another database does not wait.
    assert await index_database(replace(SHOP, database="copy"), other, second) is not None
    embedded = len(second.texts)
    first.go_on.set()
    assert await one is not None
    assert await two is None
    assert len(second.texts) == embedded
    await other.close()


async def test_only_what_is_new_is_embedded(store: IndexStore) -> None:
    await index(store)
    embedder = FakeEmbedder()
    comment = replace(SHOP, tables=(replace(CUSTOMERS, comment="Buyers"), *SHOP.tables[1:]))
    assert await index_database(comment, store, embedder) == 1
    assert len(embedder.texts) == 1
    gone = replace(SHOP, tables=SHOP.tables[1:], foreign_keys=())
    assert await index_database(gone, store, embedder) == 0
    assert await index_database(SHOP, store, embedder) == 3


async def test_another_embedder_embeds_everything_and_may_be_wider(store: IndexStore) -> None:
    class WideEmbedder(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.hstack([super().embed(texts)] * 3)

    await index(store)
    embedded = await index_database(SHOP, store, WideEmbedder("wide"))
    stored = await store.load("shop")
    assert (embedded, stored.head.embedder, stored.vectors.shape) == (24, "wide", (6, 192))
