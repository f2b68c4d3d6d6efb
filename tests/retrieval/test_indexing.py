"""An index is refreshed by what changed: over a store in memory, and once over the real parts."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.skipped import Skipped
from retrieval.indexing import (
    CORE_PHASES,
    Draft,
    IndexingResources,
    Phase,
    describe_catalog,
    run_job,
)
from tests.fakes import SHOP, FakeEmbedder, FakeIndexStore
from tests.retrieval.indexed import index, index_database


async def test_an_unchanged_database_embeds_and_writes_nothing() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    await index(store, SHOP, embedder)
    report = await index_database(replace(SHOP), store, embedder)
    assert (report.embedded, report.changed) == (0, False)
    assert len(embedder.texts) == 24
    assert store.replaced == ["shop"]


async def test_a_job_is_its_phases_in_order() -> None:
    async def read(draft: Draft, bench: IndexingResources) -> Draft:
        return replace(draft, catalog=SHOP, skipped=(Skipped("table", "hidden", "no SELECT"),))

    async def count(draft: Draft, bench: IndexingResources) -> Draft:
        assert await bench.writer.head() is not None
        return draft.with_note(f"{len(draft.catalog.tables)} tables counted").with_note("")

    phases = (Phase("reading", read), *CORE_PHASES, Phase("counting", count))
    report = await run_job("shop", phases, FakeIndexStore(), FakeEmbedder())
    names = [name for name, _ in report.seconds]
    assert names == ["reading", "cards", "embedding", "writing", "counting"]
    assert report.notes == ("6 tables counted",)
    assert [skipped.name for skipped in report.skipped] == ["hidden"]


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
