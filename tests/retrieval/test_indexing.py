"""An index is refreshed by what changed, over a store in memory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nl2sql.catalog import Catalog
from retrieval.indexing import index_database
from tests.fakes import CUSTOMERS, SHOP, FakeEmbedder, FakeIndexStore


async def test_the_first_run_embeds_every_card() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    report = await index_database(SHOP, store, embedder)
    assert (report.database, report.tables, report.columns) == ("shop", 6, 27)
    assert (report.foreign_keys, report.embedded, report.changed) == (6, 6, True)
    assert len(embedder.texts) == 6
    index = await store.load("shop")
    assert index is not None
    assert index.vectors.shape == (6, 64)
    assert index.catalog is SHOP


async def test_an_unchanged_database_embeds_and_writes_nothing() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    await index_database(SHOP, store, embedder)
    report = await index_database(replace(SHOP), store, embedder)
    assert (report.embedded, report.changed) == (0, False)
    assert len(embedder.texts) == 6
    assert store.replaced == ["shop"]


async def test_one_changed_table_embeds_one_card_and_keeps_the_other_vectors() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    await index_database(SHOP, store, embedder)
    before = await store.load("shop")
    changed = replace(SHOP, tables=(replace(CUSTOMERS, comment="Buyers"), *SHOP.tables[1:]))
    report = await index_database(changed, store, embedder)
    after = await store.load("shop")
    assert before is not None
    assert after is not None
    assert (report.embedded, report.changed) == (1, True)
    assert "Buyers" in embedder.texts[-1]
    assert before.version != after.version
    assert np.array_equal(before.vectors[1:], after.vectors[1:])


async def test_a_dropped_table_embeds_nothing_and_is_gone() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    await index_database(SHOP, store, embedder)
    report = await index_database(replace(SHOP, tables=SHOP.tables[1:]), store, embedder)
    index = await store.load("shop")
    assert index is not None
    assert (report.embedded, report.changed) == (0, True)
    assert "sales.customers" not in {card.table for card in index.cards}


async def test_another_embedder_embeds_everything() -> None:
    store, other = FakeIndexStore(), FakeEmbedder("other")
    await index_database(SHOP, store, FakeEmbedder())
    report = await index_database(SHOP, store, other)
    assert (report.embedded, len(other.texts)) == (6, 6)


async def test_databases_do_not_share_an_index() -> None:
    store = FakeIndexStore()
    await index_database(SHOP, store, FakeEmbedder())
    report = await index_database(replace(SHOP, database="copy"), store, FakeEmbedder())
    assert report.embedded == 6
    assert store.replaced == ["shop", "copy"]


async def test_progress_counts_up_to_what_is_missing() -> None:
    tables = tuple(replace(CUSTOMERS, name=f"t{number}") for number in range(70))
    seen: list[tuple[int, int]] = []
    await index_database(
        Catalog("wide", tables),
        FakeIndexStore(),
        FakeEmbedder(),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(32, 70), (64, 70), (70, 70)]


@pytest.mark.parametrize("runs", [1, 2])
async def test_a_database_without_tables_can_be_indexed(runs: int) -> None:
    store = FakeIndexStore()
    for _ in range(runs):
        report = await index_database(Catalog("empty", ()), store, FakeEmbedder())
    assert (report.tables, report.embedded, report.changed) == (0, 0, runs == 1)
