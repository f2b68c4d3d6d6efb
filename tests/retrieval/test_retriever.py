"""Hybrid retrieval over a store in memory and word-counting vectors."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nl2sql.errors import IndexUnavailable
from nl2sql.types import Violation
from retrieval.catalogs import IndexedCatalogs
from retrieval.indexing import index_database
from retrieval.retriever import HybridRetriever
from tests.fakes import (
    CUSTOMERS,
    SHOP,
    FakeEmbedder,
    FakeIndexStore,
    FakeVisibility,
    build_question,
    build_settings,
)


async def build_store() -> FakeIndexStore:
    store = FakeIndexStore()
    await index_database(SHOP, store, FakeEmbedder())
    return store


def build_retriever(
    store: FakeIndexStore,
    embedder: FakeEmbedder | None = None,
    visibility: FakeVisibility | None = None,
    **settings: object,
) -> HybridRetriever:
    flags = {name: value for name, value in settings.items() if isinstance(value, bool)}
    numbers = {name: value for name, value in settings.items() if name not in flags}
    chosen = build_settings(flags=flags, retrieval=numbers)
    return HybridRetriever(
        store,
        embedder or FakeEmbedder(),
        visibility or FakeVisibility(store),
        chosen.retrieval,
        chosen.flags,
    )


async def test_tables_come_with_both_ranks_and_their_names() -> None:
    retriever = build_retriever(await build_store(), max_tables=6)
    route, context = await retriever.retrieve(build_question(text="customer country"))
    best = context.tables[0]
    assert best.table == CUSTOMERS
    assert (best.cosine_rank, best.bm25_rank, best.via) == (1, 1, "hit")
    assert best.cosine is not None
    assert context.names[0] == "customers"
    assert len(context.tables) == 6
    assert set(route.modules) <= {"sales", "stock"}


async def test_neighbours_follow_the_hits() -> None:
    retriever = build_retriever(await build_store(), max_tables=1, fk_expansion_limit=1)
    _, context = await retriever.retrieve(build_question(text="customer country"))
    assert [(hit.table.name, hit.via) for hit in context.tables] == [
        ("customers", "hit"),
        ("orders", "foreign_key"),
    ]
    assert context.foreign_keys == SHOP.foreign_keys[:1]


async def test_nothing_is_told_of_a_hidden_table() -> None:
    store = await build_store()
    visibility = FakeVisibility(store, hidden={"sales.customers"})
    retriever = build_retriever(store, visibility=visibility, max_tables=20)
    _, context = await retriever.retrieve(build_question(text="customer country"))
    names = {hit.table.qualified for hit in context.tables}
    assert names == {table.qualified for table in SHOP.tables} - {"sales.customers"}
    # The best of what is left ranks first in both rankings: no gap tells of another.
    assert min(hit.cosine_rank or 99 for hit in context.tables) == 1
    assert not any("sales.customers" in (key.table, key.target) for key in context.foreign_keys)


async def test_a_module_of_which_nothing_may_be_seen_is_no_route() -> None:
    store = await build_store()
    hidden = {table.qualified for table in SHOP.tables if table.schema == "stock"}
    retriever = build_retriever(store, visibility=FakeVisibility(store, hidden=hidden))
    route, context = await retriever.retrieve(build_question(text="stock products category"))
    assert "stock" not in route.modules
    assert all(hit.table.schema == "sales" for hit in context.tables)


async def test_who_may_see_nothing_is_told_why() -> None:
    store = await build_store()
    refusal = Violation("not_permitted", "eve", "eve has no role here.")
    retriever = build_retriever(store, visibility=FakeVisibility(store, refusal=refusal))
    _, context = await retriever.retrieve(build_question())
    assert (context.tables, context.refusal) == ((), "eve has no role here.")


async def test_without_bm25_no_table_has_a_keyword_rank() -> None:
    retriever = build_retriever(await build_store(), bm25=False)
    _, context = await retriever.retrieve(build_question(text="customer country"))
    assert context.tables
    assert not context.has_keyword_hit


async def test_without_the_router_there_is_no_route() -> None:
    retriever = build_retriever(await build_store(), module_router=False)
    route, context = await retriever.retrieve(build_question(text="customer country"))
    assert (route.modules, route.method) == ((), "off")
    assert context.tables


async def test_the_index_is_loaded_once_while_it_is_unchanged() -> None:
    store = await build_store()
    retriever = build_retriever(store)
    loads = len(store.loads)
    contexts = [(await retriever.retrieve(build_question()))[1] for _ in range(3)]
    assert len(store.loads) == loads + 1
    assert len({context.version for context in contexts}) == 1


async def test_a_new_version_is_noticed() -> None:
    store = await build_store()
    retriever = build_retriever(store, max_tables=6)
    _, before = await retriever.retrieve(build_question())
    renamed = replace(SHOP, tables=(replace(CUSTOMERS, name="buyers"), *SHOP.tables[1:]))
    await index_database(renamed, store, FakeEmbedder())
    _, after = await retriever.retrieve(build_question())
    assert before.version != after.version
    assert "sales.buyers" in {hit.table.qualified for hit in after.tables}


async def test_a_database_that_was_never_indexed_is_unavailable() -> None:
    with pytest.raises(IndexUnavailable, match="has not been indexed") as caught:
        await build_retriever(FakeIndexStore()).retrieve(build_question())
    assert "quorumsql index shop" in caught.value.hint


async def test_an_index_that_was_dropped_is_unavailable() -> None:
    store = await build_store()
    retriever = build_retriever(store)
    await retriever.retrieve(build_question())
    await store.drop("shop")
    with pytest.raises(IndexUnavailable, match="has not been indexed"):
        await retriever.retrieve(build_question())


async def test_an_index_of_another_embedder_is_unavailable() -> None:
    retriever = build_retriever(await build_store(), FakeEmbedder("other"))
    with pytest.raises(IndexUnavailable, match="with the embedder 'fake'"):
        await retriever.retrieve(build_question())


async def test_two_databases_are_searched_apart() -> None:
    store = await build_store()
    await index_database(replace(SHOP, database="half", tables=SHOP.tables[4:], foreign_keys=()),
                         store, FakeEmbedder())  # fmt: skip
    retriever = build_retriever(store)
    sizes = [
        len((await retriever.retrieve(build_question(database=name)))[1].tables)
        for name in ("shop", "half", "shop")
    ]
    assert sizes == [6, 2, 6]


async def test_catalogs_come_from_the_index_and_stay_the_same_object() -> None:
    catalogs = IndexedCatalogs(await build_store())
    assert await catalogs.catalog("shop") is SHOP
    assert await catalogs.catalog("shop") is SHOP


async def test_a_catalog_that_was_never_indexed_is_unavailable() -> None:
    with pytest.raises(IndexUnavailable, match="has not been indexed"):
        await IndexedCatalogs(FakeIndexStore()).catalog("shop")
