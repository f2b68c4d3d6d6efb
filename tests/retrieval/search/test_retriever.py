"""Hybrid retrieval over a store in memory and word-counting vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from nl2sql.catalog import Catalog, Table
from nl2sql.errors import IndexUnavailable
from nl2sql.types import FewShot, Question, SchemaContext, ValueMatch, Violation
from retrieval.catalogs import IndexedCatalogs
from retrieval.indexing import index_database
from retrieval.search.retriever import HybridRetriever
from tests.fakes import (
    CUSTOMERS,
    SHOP,
    FakeEmbedder,
    FakeIndexStore,
    FakeVisibility,
    build_question,
    build_settings,
)


async def build_store(catalog: Catalog = SHOP) -> FakeIndexStore:
    store = FakeIndexStore()
    await index_database(catalog, store, FakeEmbedder())
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


async def test_neighbours_are_inside_the_budget() -> None:
    retriever = build_retriever(
        await build_store(), max_tables=2, module_tables=0, fk_expansion_limit=1
    )
    _, context = await retriever.retrieve(build_question(text="customer country"))
    assert [(hit.table.name, hit.via) for hit in context.tables] == [
        ("customers", "hit"),
        ("orders", "hit"),
    ]
    assert context.foreign_keys == SHOP.foreign_keys[:1]


async def test_a_table_that_nothing_found_comes_over_a_foreign_key() -> None:
    retriever = build_retriever(
        await build_store(), max_tables=2, module_tables=0, fk_expansion_limit=1, cosine=False
    )
    _, context = await retriever.retrieve(build_question(text="country"))
    assert [(hit.table.name, hit.via) for hit in context.tables] == [
        ("customers", "hit"),
        ("orders", "foreign_key"),
    ]


async def test_a_small_database_is_shown_whole_in_every_question() -> None:
    retriever = build_retriever(await build_store(), max_tables=6, cosine=False)
    _, context = await retriever.retrieve(build_question(text="weather"))
    assert {hit.table.qualified for hit in context.tables} == {
        table.qualified for table in SHOP.tables
    }
    assert (context.catalog_tables, context.has_keyword_hit) == (6, False)
    assert set(context.foreign_keys) == set(SHOP.foreign_keys)


async def test_the_module_of_the_best_table_is_shown_whole_and_shared() -> None:
    retriever = build_retriever(await build_store(), max_tables=2, module_tables=4)
    _, context = await retriever.retrieve(build_question(text="customer country"))
    assert context.tables[0].table == CUSTOMERS
    sales = {table.qualified for table in SHOP.tables if table.schema == "sales"}
    assert set(context.shared) == sales
    assert sales <= {hit.table.qualified for hit in context.tables}
    unasked = [hit.table.name for hit in context.tables if hit.via == "module"]
    assert "employees" in unasked
    assert not context.is_whole


async def test_a_module_that_is_too_large_is_not_shown_whole() -> None:
    retriever = build_retriever(await build_store(), max_tables=2, module_tables=3)
    _, context = await retriever.retrieve(build_question(text="customer country"))
    assert len(context.tables) == 2
    assert context.shared == ()


async def test_what_prompts_begin_with_is_each_module_as_far_as_it_may_be_seen() -> None:
    store = await build_store()
    visibility = FakeVisibility(store, hidden={"sales.customers"})
    retriever = build_retriever(store, visibility=visibility, module_tables=4)
    one, other = await retriever.list_beginnings("shop", build_question().principal)
    assert set(one.shared) == {"sales.orders", "sales.employees", "sales.order_lines"}
    assert set(other.shared) == {"stock.products", "stock.returns"}
    _, context = await retriever.retrieve(build_question(text="order lines"))
    assert context.shared in (one.shared, other.shared)


async def test_prompts_on_a_small_database_begin_with_all_of_it() -> None:
    retriever = build_retriever(await build_store())
    (whole,) = await retriever.list_beginnings("shop", build_question().principal)
    assert whole.is_whole
    assert set(whole.foreign_keys) == set(SHOP.foreign_keys)


async def test_who_may_see_nothing_has_no_prompts() -> None:
    store = await build_store()
    visibility = FakeVisibility(
        store, refusal=Violation("not_permitted", "eve", "eve has no role here.")
    )
    retriever = build_retriever(store, visibility=visibility)
    assert await retriever.list_beginnings("shop", build_question().principal) == ()


async def test_inferred_keys_connect_tables_too() -> None:
    catalog = replace(SHOP, foreign_keys=(), inferred_keys=SHOP.foreign_keys[:1])
    retriever = build_retriever(await build_store(catalog), max_tables=6)
    _, context = await retriever.retrieve(build_question(text="customer country"))
    assert context.foreign_keys == SHOP.foreign_keys[:1]


async def test_columns_that_search_found_are_named() -> None:
    retriever = build_retriever(await build_store(), max_tables=3)
    _, context = await retriever.retrieve(build_question(text="loyalty tier"))
    (customers,) = (hit for hit in context.tables if hit.table == CUSTOMERS)
    assert customers.columns[0] == "Loyalty Tier"


async def test_a_related_word_finds_a_table_but_is_no_keyword_hit() -> None:
    retriever = build_retriever(await build_store(), max_tables=2, cosine=False)
    _, context = await retriever.retrieve(build_question(text="clients"))
    assert context.tables[0].table == CUSTOMERS
    assert not context.has_keyword_hit


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


@pytest.mark.parametrize("cosine", [True, False])
async def test_a_hidden_column_does_not_make_its_table_rank(cosine: bool) -> None:
    store = await build_store()
    question = build_question(text="loyalty tier")

    async def retrieve(hidden: set[str]) -> SchemaContext:
        visibility = FakeVisibility(store, hidden=hidden)
        retriever = build_retriever(store, visibility=visibility, max_tables=6, cosine=cosine)
        return (await retriever.retrieve(question))[1]

    seen = await retrieve(set())
    assert (seen.tables[0].table, seen.has_keyword_hit) == (CUSTOMERS, True)
    shown = await retrieve({"sales.customers.Loyalty Tier"})
    (customers,) = (hit for hit in shown.tables if hit.table.name == "customers")
    assert not shown.has_keyword_hit
    assert (customers.bm25_rank, "Loyalty Tier" in customers.columns) == (None, False)
    assert "loyalty" not in repr(shown).lower()
    # What ranks is the table as it is shown: as if the column had never been there.
    without = replace(CUSTOMERS, columns=CUSTOMERS.columns[:3])
    bare = await build_store(replace(SHOP, tables=(without, *SHOP.tables[1:])))
    _, expected = await build_retriever(bare, max_tables=6, cosine=cosine).retrieve(question)
    assert [hit.table for hit in shown.tables] == [hit.table for hit in expected.tables]
    if cosine:
        assert customers.cosine == pytest.approx(
            next(hit.cosine for hit in expected.tables if hit.table.name == "customers"), abs=1e-3
        )


async def test_a_database_of_which_no_table_may_be_seen_says_so() -> None:
    store = await build_store()
    hidden = {table.qualified for table in SHOP.tables}
    retriever = build_retriever(store, visibility=FakeVisibility(store, hidden=hidden))
    _, context = await retriever.retrieve(build_question())
    assert (context.tables, context.refusal) == (
        (),
        "There is no table in shop that you may see.",
    )


async def test_names_of_a_draft_come_first() -> None:
    retriever = build_retriever(await build_store(), max_tables=4)
    _, context = await retriever.retrieve(
        build_question(text="customer country"),
        draft="SELECT reason FROM returns JOIN nowhere USING (id)",
    )
    assert (context.tables[0].table.name, context.tables[0].via) == ("returns", "draft")
    assert context.tables[1].table == CUSTOMERS


async def test_a_draft_names_nothing_that_is_hidden() -> None:
    store = await build_store()
    visibility = FakeVisibility(store, hidden={"stock.returns"})
    retriever = build_retriever(store, visibility=visibility)
    _, context = await retriever.retrieve(
        build_question(), draft="SELECT reason FROM stock.returns"
    )
    assert "returns" not in {hit.table.name for hit in context.tables}


class FakeSources:
    """Values, examples and glosses of the shop; it keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def match(self, question: Question, catalog: Catalog) -> tuple[ValueMatch, ...]:
        self.asked.append("match")
        return (
            ValueMatch("broken", "stock.returns", "reason", "Broken", 1.0),
            ValueMatch("broken", "stock.products", "category", "Broken", 0.9),
            ValueMatch("bits", "stock.returns", "reason", "Bits", 0.5),
        )

    async def select(
        self, question: Question, vector: NDArray[np.float32], catalog: Catalog
    ) -> tuple[FewShot, ...]:
        self.asked.append("select")
        return (FewShot("How many?", "SELECT 1"),)

    async def describe(
        self, question: Question, tables: Sequence[Table], catalog: Catalog
    ) -> tuple[tuple[str, str], ...]:
        self.asked.append("describe")
        return tuple((table.qualified, "what it is") for table in tables)


async def retrieve_with_sources(sources: FakeSources, **settings: object) -> SchemaContext:
    store = await build_store()
    flags = {name: value for name, value in settings.items() if isinstance(value, bool)}
    numbers = {name: value for name, value in settings.items() if name not in flags}
    chosen = build_settings(flags=flags, retrieval=numbers)
    retriever = HybridRetriever(
        store,
        FakeEmbedder(),
        FakeVisibility(store),
        chosen.retrieval,
        chosen.flags,
        values=sources,
        examples=sources,
        glossary=sources,
    )
    return (await retriever.retrieve(build_question(text="the broken ones")))[1]


async def test_a_table_with_a_value_of_the_question_is_found() -> None:
    sources = FakeSources()
    context = await retrieve_with_sources(
        sources,
        max_tables=1,
        module_tables=0,
        max_values=1,
        fk_expansion_limit=0,
        cosine=False,
        glosses=True,
    )
    assert [hit.table.name for hit in context.tables] == ["returns"]
    assert [match.value for match in context.values] == ["Broken"]
    assert context.examples == (FewShot("How many?", "SELECT 1"),)
    assert context.glosses == (("stock.returns", "what it is"),)


@pytest.mark.parametrize(
    ("setting", "unasked"),
    [
        ({"value_index": False}, "match"),
        ({"max_values": 0}, "match"),
        ({"examples": False}, "select"),
        ({"glosses": False}, "describe"),
    ],
)
async def test_what_is_switched_off_is_not_asked(setting: dict[str, object], unasked: str) -> None:
    sources = FakeSources()
    await retrieve_with_sources(sources, **{"glosses": True} | setting)
    assert set(sources.asked) == {"match", "select", "describe"} - {unasked}


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
    assert "quorumsql index build shop" in caught.value.hint


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
