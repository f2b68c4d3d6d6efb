"""What the index gives back, on a real PostgreSQL with pgvector."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import numpy as np
import psycopg
import pytest

from execution.postgres.embedded import EmbeddedServer
from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.errors import IndexReplaced, IndexUnavailable
from retrieval.catalogs import IndexedCatalogs
from retrieval.index_store.cards import build_cards
from retrieval.index_store.nearest import build_mask
from retrieval.index_store.store import IndexStore
from tests.fakes import SHOP, FakeEmbedder, build_table
from tests.retrieval.index_store.conftest import create_index, execute
from tests.retrieval.indexed import index, index_database, load

ODD = Catalog(
    'the "odd" one',
    (
        Table(
            "s p",
            'Odd "Name".x',
            (Column("Größe", "integer"), Column("select", "text", False, "It's\n\t\\N"),
             Column("🙂", "numeric(12,2)[]")),
            ("Größe", "🙂"),
            "A {brace}, 100 %s",
            "view",
            "SELECT 1 AS x",
        ),
        Table("public", "none", ()),
    ),
    (ForeignKey("k", "s p.Odd \"Name\".x", ("Größe", "🙂"), "public.none", ("a", "b,c")),),
    ("s p", "public"),
    "sqlite",
    (ForeignKey("", "public.none", ("x",), "s p.Odd \"Name\".x", ("select",), inferred=True),),
)  # fmt: skip


def build_words(count: int) -> Catalog:
    """So many tables with names of their own, over five schemas."""
    tables = tuple(
        Table(f"m{at % 5}", f"{chr(97 + at % 26)}{at} word{at * 7}", (Column(f"c{at}", "text"),))
        for at in range(count)
    )
    return Catalog("words", tables)


@pytest.mark.parametrize("catalog", [SHOP, ODD, Catalog("empty", ())], ids=["shop", "odd", "empty"])
async def test_catalog_and_cards_survive(store: IndexStore, catalog: Catalog) -> None:
    glosses = {"sales.orders": "bought things", "sales.orders.total": "[AMT]"}
    await index_database(catalog, store, FakeEmbedder(), glosses=glosses)
    stored = await load(store, catalog.database)
    assert stored.catalog == catalog
    assert stored.cards == build_cards(catalog, glosses)
    assert (await store.table_vectors(stored.head)).shape[0] == len(catalog.tables)


async def test_the_nearest_cards_come_first(store: IndexStore) -> None:
    embedder = FakeEmbedder()
    stored = await index(store, SHOP, embedder)
    asked = embedder.embed([stored.cards.tables[4].summary, stored.cards.columns[7].text])
    tables = await store.nearest_tables(stored.head, asked[0], 3)
    columns = await store.nearest_columns(stored.head, asked[1], 3)
    assert (tables[0][0], columns[0][0]) == (4, 7)
    for found in (tables, columns):
        assert found[0][1] == pytest.approx(1, abs=1e-3)
        assert [cosine for _, cosine in found] == sorted((hit[1] for hit in found), reverse=True)


@pytest.fixture(scope="module")
def words_url(embedded_server: EmbeddedServer) -> str:
    """An index of 5,200 tables, more than are read one by one."""
    url = create_index(embedded_server, "many_words")
    asyncio.run(index_words(url))
    return url


async def index_words(url: str) -> None:
    store = IndexStore(url)
    await index(store, build_words(5200))
    await store.close()


@pytest.mark.parametrize("visible", ["all", "most", "every second", "few", "the farthest"])
async def test_a_mask_hides_and_never_starves(words_url: str, visible: str) -> None:
    store, limit = IndexStore(words_url), 40
    head = (await load(store, "words")).head
    vector = FakeEmbedder().embed(["word700 m3"])[0]
    cosines = await store.table_vectors(head) @ vector
    seen = {
        "all": range(5200),
        "most": range(100, 5200),
        "every second": range(0, 5200, 2),
        "few": range(0, 5200, 300),
        "the farthest": sorted(np.argsort(cosines, kind="stable")[:5100].tolist()),
    }[visible]
    mask = None if visible == "all" else build_mask(seen, 5200)
    found = await store.nearest_tables(head, vector, limit, mask)
    await store.close()
    positions = [at for at, _ in found]
    assert len(set(positions)) == min(limit, len(seen))
    assert set(positions) <= set(seen)
    # Many cards are equally near: the distances are compared, not the positions.
    best = np.sort(cosines[list(seen)])[::-1][: len(found)]
    assert np.allclose([cosine for _, cosine in found], best, atol=0.02)


async def test_the_search_can_use_the_hnsw_index(store: IndexStore, index_url: str) -> None:
    head = (await index(store)).head
    plan = execute(
        index_url,
        "SET enable_seqscan = off; SET enable_sort = off",
        f"EXPLAIN SELECT position FROM quorumsql.table_vectors_{head.generation}"
        " WHERE get_bit('\\xff'::bytea, position) <> 0"
        " ORDER BY embedding <=> array_fill(0.1::real, ARRAY[64])::halfvec LIMIT 5",
    )
    assert f"table_vectors_{head.generation}_hnsw" in "\n".join(line for (line,) in plan)


@pytest.mark.parametrize("tables", [0, 6])
async def test_whoever_reads_an_old_generation_is_told(store: IndexStore, tables: int) -> None:
    embedder = FakeEmbedder()
    first = replace(SHOP, tables=SHOP.tables[:tables], foreign_keys=())
    old = (await index(store, first, embedder)).head
    await index_database(replace(first, search_path=("stock",)), store, embedder)
    vector = embedder.embed(["orders"])[0]
    with pytest.raises(IndexReplaced):
        await store.nearest_tables(old, vector, 5)
    with pytest.raises(IndexReplaced):
        await store.load_catalog(old)


async def test_a_question_of_other_dimensions_is_told(store: IndexStore) -> None:
    head = (await index(store)).head
    with pytest.raises(IndexUnavailable, match="64 dimensions"):
        await store.nearest_tables(head, np.ones(3, dtype=np.float32), 5)


async def test_a_database_without_an_index_is_told_apart(store: IndexStore) -> None:
    assert await store.load("nothing") is None
    assert await store.head("nothing") is None
    with pytest.raises(IndexUnavailable, match="quorumsql index build nothing"):
        await IndexedCatalogs(store).catalog("nothing")


async def test_a_probe_waits_for_nobody_elses_connection(index_url: str) -> None:
    store = IndexStore(index_url, pool_size=1)
    await store.prepare()
    async with store.connection():
        assert await store.probe() == (("index", ""),)
    await store.close()


async def test_a_store_that_does_not_answer_is_unavailable() -> None:
    store = IndexStore("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(IndexUnavailable, match="does not answer"):
        await store.load("x")
    assert (await store.probe())[0][1]
    await store.close()


async def test_a_full_disk_is_told(store: IndexStore) -> None:
    with pytest.raises(IndexUnavailable, match="disk of the index is full") as caught:
        async with store.connection():
            raise psycopg.errors.DiskFull("no room\nHINT: Check free disk space.")
    assert "Free disk space" in caught.value.hint
    # A server's message may hold paths and addresses.
    assert (caught.value.said, "no room" in str(caught.value)) == ("no room", False)


def test_a_card_reads_as_prose() -> None:
    card = build_cards(SHOP).tables[0]
    assert card.table == "sales.customers"
    assert card.summary == (
        "customer (sale). People and companies who buy Columns: id, name, country, loyalty tier."
    )
    assert card.text == f"{card.summary} ISO 3166 code of the country"


def test_dated_copies_are_embedded_once_and_told_apart_by_their_words() -> None:
    tables = [build_table(f"s.visits_{day}", "hits integer") for day in ("20170730", "20170731")]
    first, second = build_cards(Catalog("web", tuple(tables))).tables
    assert first.summary == second.summary == "visit (s). Columns: hit."
    assert first.text == "visit 20170730 (s). Columns: hit."


def test_equal_columns_share_a_card() -> None:
    cards = {card.text: card.columns for card in build_cards(SHOP).columns}
    assert cards["name"] == ("sales.customers.name", "sales.employees.name", "stock.products.name")
    assert cards["country. ISO 3166 code of the country"] == ("sales.customers.country",)
    assert list(cards) == sorted(cards)


def test_a_card_stays_short_however_much_there_is_to_say() -> None:
    columns = tuple(f"a_long_name_of_a_column_{number} text" for number in range(1600))
    card = build_cards(
        Catalog("wide", (build_table("s.wide", *columns, comment="word " * 100_000),))
    ).tables[0]
    assert len(card.summary) <= 2000
    assert "1599" in card.text
    assert len(card.text) < 100_000
