"""Hybrid retrieval over a store in memory and word-counting vectors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nl2sql.catalog import Catalog, Table
from nl2sql.errors import IndexUnavailable
from nl2sql.types import (
    FewShot,
    ModuleRoute,
    Question,
    SchemaContext,
    ValueMatch,
    VerifiedQuery,
    Violation,
)
from retrieval.retriever import HybridRetriever
from retrieval.semantics.layer import SemanticLayer
from retrieval.semantics.semantics_file import SemanticsFile
from tests.fakes import (
    CUSTOMERS,
    SHOP,
    FakeEmbedder,
    FakeGuard,
    FakeIndexStore,
    FakeVisibility,
    build_question,
    build_settings,
    build_table,
)
from tests.retrieval.indexed import index_database
from tests.retrieval.semantics.files import build_file


async def build_store(catalog: Catalog = SHOP) -> FakeIndexStore:
    store = FakeIndexStore()
    await index_database(catalog, store, FakeEmbedder())
    return store


def build_retriever(
    store: FakeIndexStore,
    embedder: FakeEmbedder | None = None,
    *,
    hidden: Collection[str] = (),
    refusal: Violation | None = None,
    sources: Any = None,
    definitions: SemanticsFile | None = None,
    **settings: object,
) -> HybridRetriever:
    flags = {name: value for name, value in settings.items() if isinstance(value, bool)}
    numbers = {name: value for name, value in settings.items() if name not in flags}
    chosen = build_settings(flags=flags, retrieval=numbers)
    return HybridRetriever(
        store,
        embedder or FakeEmbedder(),
        FakeVisibility(store, hidden=hidden, refusal=refusal),
        chosen.retrieval,
        chosen.flags,
        values=sources,
        examples=sources,
        glossary=sources,
        definitions=SemanticLayer({"shop": definitions}, store, FakeGuard())
        if definitions is not None
        else None,
    )


async def retrieve(text: str, draft: str = "", **chosen: Any) -> tuple[ModuleRoute, SchemaContext]:
    """What one question finds in an index of the shop."""
    retriever = build_retriever(await build_store(), **chosen)
    return await retriever.retrieve(build_question(text=text), draft=draft)


async def test_tables_come_with_both_ranks_and_their_names() -> None:
    route, context = await retrieve("customer country", max_tables=6)
    best = context.tables[0]
    assert best.table == CUSTOMERS
    assert (best.cosine_rank, best.bm25_rank, best.via) == (1, 1, "hit")
    assert best.cosine is not None
    assert context.names[0] == "customers"
    assert len(context.tables) == 6
    assert set(route.modules) <= {"sales", "stock"}


@pytest.mark.parametrize(
    ("text", "cosine", "via"),
    [("customer country", True, "hit"), ("country", False, "foreign_key")],
)
async def test_neighbours_are_inside_the_budget(text: str, cosine: bool, via: str) -> None:
    few: dict[str, Any] = {"max_tables": 2, "whole_tables": 0, "fk_expansion_limit": 1}
    _, context = await retrieve(text, **few, cosine=cosine)
    assert [(hit.table.name, hit.via) for hit in context.tables] == [
        ("customers", "hit"),
        ("orders", via),
    ]
    assert context.foreign_keys == SHOP.foreign_keys[:1]


async def test_only_the_best_tables_are_shown_in_full() -> None:
    settings: dict[str, Any] = {"max_tables": 5, "whole_tables": 0}
    _, context = await retrieve("customer country", **settings)
    assert [hit.short for hit in context.tables] == [False, False, False, True, True]
    _, context = await retrieve("customer country")
    assert context.is_whole
    assert not any(hit.short for hit in context.tables)


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ({}, ["order_lines"]),
        ({"named_tables": False}, []),
        ({"hidden": {"sales.order_lines"}}, ["products"]),
    ],
    ids=["on", "off", "hidden"],
)
async def test_business_terms_find_the_tables_that_they_mean(
    setting: dict[str, Any], found: list[str]
) -> None:
    _, context = await retrieve(
        "profitability",
        max_tables=1,
        whole_tables=0,
        fk_expansion_limit=0,
        cosine=False,
        **setting,
    )
    assert [hit.table.name for hit in context.tables] == found


ORDERED = build_file(
    measures={"turnover": {"expression": "sum(products.price)", "filter": "orders.status = 'open'"}}
)


async def test_all_tables_of_a_definition_are_shown() -> None:
    small: dict[str, Any] = {"max_tables": 1, "whole_tables": 0, "definitions": ORDERED}
    _, plain = await retrieve("customer country", **small)
    assert [hit.table.name for hit in plain.tables] == ["customers"]
    assert plain.definitions == ()
    _, context = await retrieve("customer country by turnover", **small)
    assert [(hit.table.name, hit.via) for hit in context.tables] == [
        ("customers", "hit"),
        ("products", "definition"),
        ("orders", "definition"),
        # Between these two.
        ("order_lines", "definition"),
    ]
    assert [definition.name for definition in context.definitions] == ["turnover"]
    hidden = {"stock.products"}
    _, context = await retrieve("customer country by turnover", **small, hidden=hidden)
    assert context.definitions == ()


async def test_a_small_database_is_shown_whole_in_every_question() -> None:
    _, context = await retrieve("weather", max_tables=6, cosine=False)
    assert {hit.table.qualified for hit in context.tables} == {
        table.qualified for table in SHOP.tables
    }
    assert (context.catalog_tables, context.has_keyword_hit) == (6, False)
    assert set(context.foreign_keys) == set(SHOP.foreign_keys)


async def test_the_module_of_the_best_table_is_shown_whole_and_shared() -> None:
    few: dict[str, Any] = {"cosine": False, "whole_tables": 4, "fk_expansion_limit": 0}
    _, context = await retrieve("country", max_tables=6, **few)
    assert context.tables[0].table == CUSTOMERS
    sales = {table.qualified for table in SHOP.tables if table.schema == "sales"}
    assert set(context.shared) == sales
    assert sales <= {hit.table.qualified for hit in context.tables}
    unasked = [hit.table.name for hit in context.tables if hit.via == "module"]
    assert "employees" in unasked
    assert not context.is_whole
    # Its four tables are more than two thirds of five.
    _, context = await retrieve("country", max_tables=5, **few)
    assert context.shared == ()


@pytest.mark.parametrize(("most", "shared", "others"), [(15, 10, 7), (18, 10, 8), (14, 0, 14)])
async def test_a_module_that_is_shown_whole_leaves_seven_of_the_best_tables(
    most: int, shared: int, others: int
) -> None:
    module = [build_table(f"sales.part_{number}", "id integer") for number in range(9)]
    found = [build_table(f"stock.store_{number}", "customer text") for number in range(20)]
    catalog = Catalog("shop", (CUSTOMERS, *module, *found))
    retriever = build_retriever(await build_store(catalog), max_tables=most, cosine=False)
    _, context = await retriever.retrieve(build_question(text="customers of customer"))
    assert context.tables[0].table == CUSTOMERS
    schemas = [
        hit.table.schema for hit in context.tables if hit.table.qualified not in context.shared
    ]
    assert (len(context.shared), len(schemas)) == (shared, others)


async def test_what_prompts_begin_with_is_each_module_as_far_as_it_may_be_seen() -> None:
    retriever = build_retriever(await build_store(), hidden={"sales.customers"}, whole_tables=4)
    one, other = await retriever.list_beginnings("shop", build_question().principal)
    assert set(one.shared) == {"sales.orders", "sales.employees", "sales.order_lines"}
    assert set(other.shared) == {"stock.products", "stock.returns"}
    _, context = await retriever.retrieve(build_question(text="order lines"))
    assert context.shared in (one.shared, other.shared)


async def test_who_may_see_nothing_has_no_prompts_and_is_told_why() -> None:
    refusal = Violation("not_permitted", "eve", "eve has no role here.")
    retriever = build_retriever(await build_store(), refusal=refusal)
    assert await retriever.list_beginnings("shop", build_question().principal) == ()
    _, context = await retriever.retrieve(build_question())
    assert (context.tables, context.refusal) == ((), "eve has no role here.")


async def test_a_related_word_finds_a_table_but_is_no_keyword_hit() -> None:
    _, context = await retrieve("clients", max_tables=2, cosine=False)
    assert context.tables[0].table == CUSTOMERS
    assert not context.has_keyword_hit


async def test_nothing_is_told_of_a_hidden_table() -> None:
    _, context = await retrieve("customer country", hidden={"sales.customers"}, max_tables=20)
    names = {hit.table.qualified for hit in context.tables}
    assert names == {table.qualified for table in SHOP.tables} - {"sales.customers"}
    _, drafted = await retrieve("orders", "SELECT * FROM customers", hidden={"sales.customers"})
    assert "customers" not in {hit.table.name for hit in drafted.tables}
    stock = {table.qualified for table in SHOP.tables if table.schema == "stock"}
    route, _ = await retrieve("stock products category", hidden=stock)
    assert "stock" not in route.modules
    # The best of what is left ranks first in both rankings: no gap tells of another.
    assert min(hit.cosine_rank or 99 for hit in context.tables) == 1
    assert not any("sales.customers" in (key.table, key.target) for key in context.foreign_keys)


async def test_a_table_with_hidden_columns_is_found_by_its_own_synonyms() -> None:
    store = FakeIndexStore()
    await index_database(SHOP, store, FakeEmbedder(), glosses={"sales.customers": "patron"})
    retriever = build_retriever(store, hidden={"sales.customers.Loyalty Tier"})
    _, context = await retriever.retrieve(build_question(text="patrons"))
    assert [hit.table.name for hit in context.tables if hit.bm25_rank] == ["customers"]


@pytest.mark.parametrize("cosine", [True, False])
async def test_a_hidden_column_does_not_make_its_table_rank(cosine: bool) -> None:
    settings: dict[str, Any] = {"max_tables": 6, "cosine": cosine}
    _, seen = await retrieve("loyalty tier", **settings)
    assert (seen.tables[0].table, seen.has_keyword_hit) == (CUSTOMERS, True)
    _, shown = await retrieve("loyalty tier", hidden={"sales.customers.Loyalty Tier"}, **settings)
    (customers,) = (hit for hit in shown.tables if hit.table.name == "customers")
    assert not shown.has_keyword_hit
    assert (customers.bm25_rank, "Loyalty Tier" in customers.columns) == (None, False)
    assert "loyalty" not in repr(shown).lower()
    # What ranks is the table as it is shown: as if the column had never been there.
    without = replace(CUSTOMERS, columns=CUSTOMERS.columns[:3])
    bare = await build_store(replace(SHOP, tables=(without, *SHOP.tables[1:])))
    retriever = build_retriever(bare, **settings)
    _, expected = await retriever.retrieve(build_question(text="loyalty tier"))
    assert [hit.table for hit in shown.tables] == [hit.table for hit in expected.tables]
    if cosine:
        assert customers.cosine == pytest.approx(
            next(hit.cosine for hit in expected.tables if hit.table.name == "customers"), abs=1e-3
        )


async def test_names_of_a_draft_come_first() -> None:
    draft = "SELECT reason FROM returns JOIN nowhere USING (id)"
    _, context = await retrieve("customer country", draft, max_tables=4)
    assert (context.tables[0].table.name, context.tables[0].via) == ("returns", "draft")
    assert context.tables[1].table == CUSTOMERS


async def test_a_date_finds_the_copy_of_that_day() -> None:
    days = [build_table(f"s.visits_201707{day}", "hits integer") for day in range(10, 31)]
    store = await build_store(Catalog("shop", tuple(days), search_path=("s",)))
    retriever = build_retriever(store, whole_tables=0, max_tables=3)
    _, context = await retriever.retrieve(build_question(text="How many hits on 2017-07-28?"))
    assert context.tables[0].table.name == "visits_20170728"


VERIFIED = VerifiedQuery("SELECT 1", "mia", datetime(2026, 3, 1, tzinfo=UTC), "feedback")


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

    async def find_verified(
        self, question: Question, catalog: Catalog, values: object
    ) -> VerifiedQuery | None:
        return VERIFIED

    async def describe(
        self, question: Question, tables: Sequence[Table], catalog: Catalog
    ) -> tuple[tuple[str, str], ...]:
        self.asked.append("describe")
        return tuple((table.qualified, "what it is") for table in tables)


async def test_a_table_with_a_value_of_the_question_is_found() -> None:
    _, context = await retrieve(
        "the broken ones",
        sources=FakeSources(),
        max_tables=1,
        whole_tables=0,
        fk_expansion_limit=0,
        cosine=False,
        glosses=True,
    )
    assert [hit.table.name for hit in context.tables] == ["returns"]
    assert [match.value for match in context.values] == ["Broken", "Bits"]
    assert context.examples == (FewShot("How many?", "SELECT 1"),)
    assert context.verified == VERIFIED
    assert context.glosses == (("stock.returns", "what it is"),)


@pytest.mark.parametrize(
    ("setting", "unasked"),
    [
        ({"value_index": False}, "match"),
        ({"examples": 0}, "select"),
        ({"glosses": False}, "describe"),
    ],
)
async def test_what_is_switched_off_is_not_asked(setting: dict[str, Any], unasked: str) -> None:
    sources = FakeSources()
    await retrieve("the broken ones", sources=sources, **{"glosses": True} | setting)
    assert set(sources.asked) == {"match", "select", "describe"} - {unasked}


async def test_a_new_version_is_noticed() -> None:
    store = await build_store()
    retriever = build_retriever(store, max_tables=6)
    _, before = await retriever.retrieve(build_question())
    renamed = replace(SHOP, tables=(replace(CUSTOMERS, name="buyers"), *SHOP.tables[1:]))
    await index_database(renamed, store, FakeEmbedder())
    _, after = await retriever.retrieve(build_question())
    assert before.version != after.version
    assert "sales.buyers" in {hit.table.qualified for hit in after.tables}


async def test_without_a_fitting_index_a_database_is_unavailable() -> None:
    with pytest.raises(IndexUnavailable, match="has not been indexed") as caught:
        await build_retriever(FakeIndexStore()).retrieve(build_question())
    assert "quorumsql index build shop" in caught.value.hint
    store = await build_store()
    with pytest.raises(IndexUnavailable, match="with the embedder 'fake'"):
        await build_retriever(store, FakeEmbedder("other")).retrieve(build_question())
    await store.drop("shop")
    with pytest.raises(IndexUnavailable, match="has not been indexed"):
        await build_retriever(store).retrieve(build_question())
