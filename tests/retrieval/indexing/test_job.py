"""An index is refreshed by what changed: over a store in memory, and once over the real parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nl2sql.catalog import Catalog
from nl2sql.skipped import Skipped
from retrieval.embedding.embedder import Embedder
from retrieval.indexing import index_database, run_job
from retrieval.indexing.job import CORE_PHASES, Draft, Phase, Workbench, describe_catalog
from serve_app.composition.wiring import Wiring
from tests.fakes import CUSTOMERS, SHOP, FakeEmbedder, FakeIndexStore
from tests.retrieval.indexed import index, load


async def test_the_first_run_embeds_every_card() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    report = await index_database(SHOP, store, embedder)
    assert (report.database, report.tables, report.columns) == ("shop", 6, 27)
    assert (report.foreign_keys, report.column_cards) == (6, 18)
    assert (report.embedded, report.changed) == (24, True)
    assert len(embedder.texts) == 24
    stored = await load(store)
    assert (await store.table_vectors(stored.head)).shape == (6, 64)
    assert stored.catalog is SHOP


async def test_an_unchanged_database_embeds_and_writes_nothing() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    await index(store, SHOP, embedder)
    report = await index_database(replace(SHOP), store, embedder)
    assert (report.embedded, report.changed) == (0, False)
    assert len(embedder.texts) == 24
    assert store.replaced == ["shop"]


async def test_one_changed_table_embeds_one_card_and_keeps_the_other_vectors() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    before = (await index(store, SHOP, embedder)).head
    vectors = await store.table_vectors(before)
    changed = replace(SHOP, tables=(replace(CUSTOMERS, comment="Buyers"), *SHOP.tables[1:]))
    report = await index_database(changed, store, embedder)
    after = (await load(store)).head
    assert (report.embedded, report.changed) == (1, True)
    assert "Buyers" in embedder.texts[-1]
    assert before.version != after.version
    assert before.fingerprint != after.fingerprint
    assert np.array_equal(vectors[1:], (await store.table_vectors(after))[1:])


async def test_another_wording_alone_is_a_new_version_of_the_same_schema() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    before = (await index(store, SHOP, embedder)).head
    await index_database(SHOP, store, embedder, glosses={"sales.orders": "purchases"})
    after = (await load(store)).head
    assert before.version != after.version
    assert before.fingerprint == after.fingerprint


async def test_progress_names_the_phase_and_counts_what_is_missing() -> None:
    tables = tuple(replace(CUSTOMERS, name=f"t{number}") for number in range(296))
    seen: list[tuple[str, int, int]] = []
    await index_database(
        Catalog("wide", tables),
        FakeIndexStore(),
        FakeEmbedder(),
        progress=lambda *step: seen.append(step),
    )
    phases = list(dict.fromkeys(phase for phase, _, _ in seen))
    assert phases == ["schema", "cards", "embedding", "writing"]
    embedded = [counts for phase, *counts in seen if phase == "embedding"]
    assert embedded == [[0, 0], [128, 300], [256, 300], [300, 300]]


@pytest.mark.parametrize("runs", [1, 2])
async def test_a_database_without_tables_can_be_indexed(runs: int) -> None:
    store = FakeIndexStore()
    for _ in range(runs):
        report = await index_database(Catalog("empty", ()), store, FakeEmbedder())
    assert (report.tables, report.embedded, report.changed) == (0, 0, runs == 1)


async def test_a_job_is_its_phases_in_order() -> None:
    async def read(draft: Draft, bench: Workbench) -> Draft:
        return replace(draft, catalog=SHOP, skipped=(Skipped("table", "hidden", "no SELECT"),))

    async def count(draft: Draft, bench: Workbench) -> Draft:
        assert await bench.writer.head() is not None
        return draft.with_note(f"{len(draft.catalog.tables)} tables counted").with_note("")

    phases = (Phase("reading", read), *CORE_PHASES, Phase("counting", count))
    report = await run_job("shop", phases, FakeIndexStore(), FakeEmbedder())
    names = [name for name, _ in report.seconds]
    assert names == ["reading", "cards", "embedding", "writing", "counting"]
    assert report.notes == ("6 tables counted",)
    assert [skipped.name for skipped in report.skipped] == ["hidden"]


async def test_the_demo_is_found_by_what_is_said_of_it(wiring: Wiring) -> None:
    store = wiring.build_index_store()
    stored = await load(store, "demo_erp")
    vector = Embedder().embed(["Leave and sick days of employees"])[0]
    nearest = await store.nearest_tables(stored.head, vector, 5)
    assert stored.cards.tables[nearest[0][0]].table == "hr.absences"
    await store.close()


def test_comments_of_the_database_stay() -> None:
    described = describe_catalog(
        SHOP, {"Orders": "ours", "EMPLOYEES": "people", "orders.ID": "number\n of it", "x.y": "no"}
    )
    orders, employees = (described.resolve(name) for name in ("orders", "employees"))
    assert orders is not None
    assert employees is not None
    assert orders.comment == "What customers ordered"
    assert employees.comment == "people"
    column = orders.column("id")
    assert column is not None
    assert column.comment == "number of it"


def test_no_description_changes_nothing() -> None:
    assert describe_catalog(SHOP, {}) is SHOP
