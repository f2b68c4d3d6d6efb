"""Swaps under readers, runs that are broken off, and two runs at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.errors import IndexUnavailable
from retrieval.index_store.store import IndexStore
from tests.fakes import CUSTOMERS, SHOP, FakeEmbedder
from tests.retrieval.index_store.conftest import execute
from tests.retrieval.indexed import index, index_database, load


def build_catalog(count: int, prefix: str) -> Catalog:
    """So many tables, all named after ``prefix``, with a column of their own each."""
    tables = (
        Table("s", f"{prefix}{at}", (Column(f"{prefix}{at}", "text"),)) for at in range(count)
    )
    return Catalog("swapped", tuple(tables))


class BrittleEmbedder(FakeEmbedder):
    """Breaks, like a process that is killed, once it has embedded so many texts."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text."""
        if len(self.texts) + len(texts) > self._most:
            raise RuntimeError("killed")
        return super().embed(texts)


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


def list_tables(url: str) -> set[str]:
    rows = execute(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'quorumsql'")
    return {name for (name,) in rows}


def count_rows(url: str, table: str) -> int:
    [(count,)] = execute(url, f"SELECT count(*) FROM quorumsql.{table}")
    return int(count)


async def test_an_index_that_was_replaced_leaves_nothing_behind(
    store: IndexStore, index_url: str
) -> None:
    embedder = FakeEmbedder()
    for prefix in ("a", "b", "c"):
        await index_database(build_catalog(5, prefix), store, embedder)
    head = (await load(store, "swapped")).head
    generations = {name for name in list_tables(index_url) if name[-1].isdigit()}
    assert all(name.endswith(f"_{head.generation}") for name in generations)
    assert len(generations) == 6
    assert count_rows(index_url, "generations") == 1
    assert count_rows(index_url, "pending_vectors") == 0


async def test_a_generation_that_is_still_read_is_dropped_by_the_next_run(
    store: IndexStore, index_url: str
) -> None:
    embedder = FakeEmbedder()
    old = (await index(store, build_catalog(5, "a"), embedder)).head
    with psycopg.connect(index_url) as reader:
        reader.execute(f"SELECT * FROM quorumsql.table_defs_{old.generation}")
        report = await index_database(build_catalog(5, "b"), store, embedder)
        assert report.changed
        assert f"table_defs_{old.generation}" in list_tables(index_url)
    await index_database(build_catalog(5, "b"), store, embedder)
    assert f"table_defs_{old.generation}" not in list_tables(index_url)


async def test_a_run_that_was_killed_while_embedding_goes_on(
    store: IndexStore, index_url: str
) -> None:
    catalog = build_catalog(400, "t")  # 800 cards: a table's and its column's
    await index(store)
    killed = BrittleEmbedder(300)
    with pytest.raises(RuntimeError):
        await index_database(catalog, store, killed)
    assert await store.head("swapped") is None
    assert count_rows(index_url, "pending_vectors") == len(killed.texts) == 256
    rest = FakeEmbedder()
    report = await index_database(catalog, store, rest)
    assert report.embedded == len(rest.texts) == 800 - 256
    assert set(killed.texts).isdisjoint(rest.texts)
    assert count_rows(index_url, "pending_vectors") == 0
    stored = await load(store, "swapped")
    assert np.allclose(
        await store.table_vectors(stored.head),
        FakeEmbedder().embed([card.summary for card in stored.cards.tables]),
        atol=1e-3,
    )


async def test_a_server_that_ends_the_writer_leaves_the_old_index(
    store: IndexStore, index_url: str
) -> None:
    await index(store, build_catalog(5, "a"))
    before = list_tables(index_url)
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
    stored = await load(store, "swapped")
    assert stored.catalog == build_catalog(5, "a")
    assert list_tables(index_url) == before
    assert (await index_database(build_catalog(5, "b"), store, FakeEmbedder())).changed


async def test_the_second_of_two_runs_waits_and_finds_it_done(
    store: IndexStore, index_url: str
) -> None:
    first, second = SlowEmbedder(), FakeEmbedder()
    is_waiting = asyncio.Event()

    def follow(phase: str, done: int, total: int) -> None:
        if phase == "waiting for another run":
            is_waiting.set()

    other = IndexStore(index_url)
    one = asyncio.create_task(index_database(SHOP, store, first))
    await first.started.wait()
    two = asyncio.create_task(index_database(SHOP, other, second, progress=follow))
    await is_waiting.wait()
    # Another database does not wait.
    assert (await index_database(replace(SHOP, database="copy"), other, second)).changed
    embedded = len(second.texts)
    first.go_on.set()
    assert (await one).changed
    assert not (await two).changed
    assert len(second.texts) == embedded
    await other.close()


async def test_only_what_is_new_is_embedded(store: IndexStore, index_url: str) -> None:
    await index(store)
    embedder = FakeEmbedder()
    comment = replace(SHOP, tables=(replace(CUSTOMERS, comment="Buyers"), *SHOP.tables[1:]))
    assert (await index_database(comment, store, embedder)).embedded == 1
    assert len(embedder.texts) == 1
    gone = replace(SHOP, tables=SHOP.tables[1:], foreign_keys=())
    assert (await index_database(gone, store, embedder)).embedded == 0
    assert (await index_database(SHOP, store, embedder)).embedded == 3
    assert count_rows(index_url, "pending_vectors") == 0


async def test_another_embedder_embeds_everything_and_may_be_wider(store: IndexStore) -> None:
    class WideEmbedder(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            return np.hstack([super().embed(texts)] * 3)

    await index(store)
    report = await index_database(SHOP, store, WideEmbedder("wide"))
    head = (await load(store)).head
    assert (report.embedded, head.embedder, head.dimensions) == (24, "wide", 192)
