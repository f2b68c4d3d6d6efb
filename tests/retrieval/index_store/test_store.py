"""What the index gives back, on a real PostgreSQL with pgvector."""

from __future__ import annotations

from dataclasses import replace

import psycopg
import pytest

from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.errors import IndexUnavailable
from retrieval.index_store.cards import build_cards
from retrieval.index_store.indexed_database import pack_positions
from retrieval.index_store.store import IndexStore
from tests.fakes import SHOP, FakeEmbedder, build_table
from tests.retrieval.indexed import index, index_database

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


@pytest.mark.parametrize("catalog", [SHOP, ODD, Catalog("empty", ())], ids=["shop", "odd", "empty"])
async def test_catalog_and_cards_survive(store: IndexStore, catalog: Catalog) -> None:
    glosses = {"sales.orders": "bought things", "sales.orders.total": "[AMT]"}
    await index_database(catalog, store, FakeEmbedder(), glosses=glosses)
    stored = await store.load(catalog.database)
    assert stored.catalog == catalog
    assert stored.cards == build_cards(catalog, glosses)
    assert len(stored.vectors) == len(catalog.tables)
    # All readers share one object.
    assert await store.load(catalog.database) is stored


async def test_the_nearest_visible_cards_come_first(store: IndexStore) -> None:
    embedder = FakeEmbedder()
    stored = await index(store, SHOP, embedder)
    # Another database's cards are near too.
    await index(store, replace(SHOP, database="copy"), embedder)
    asked = embedder.embed([stored.cards.tables[4].summary, stored.cards.columns[7].text])
    tables = await store.nearest(stored.head, "table", asked[0], 3)
    columns = await store.nearest(stored.head, "column", asked[1], 3)
    assert (tables[0][0], columns[0][0]) == (4, 7)
    for found in (tables, columns):
        assert found[0][1] == pytest.approx(1, abs=1e-3)
        assert [cosine for _, cosine in found] == sorted((hit[1] for hit in found), reverse=True)
    among = [at for at in range(len(stored.cards.tables)) if at != 4]
    bits = pack_positions(among, len(stored.cards.tables))
    seen = await store.nearest(stored.head, "table", asked[0], 30, bits)
    assert sorted(at for at, _ in seen) == among


async def test_an_index_that_was_replaced_finds_nothing(store: IndexStore) -> None:
    embedder = FakeEmbedder()
    old = (await index(store, SHOP, embedder)).head
    await index_database(replace(SHOP, search_path=("stock",)), store, embedder)
    assert await store.nearest(old, "table", embedder.embed(["orders"])[0], 5) == []


async def test_a_database_without_an_index_is_told_apart(store: IndexStore) -> None:
    with pytest.raises(IndexUnavailable, match="has not been indexed"):
        await store.load("nothing")
    assert await store.heads() == []
    with pytest.raises(IndexUnavailable, match="quorumsql index build nothing"):
        await store.catalog("nothing")


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
    bearers = ("sales.customers", "sales.employees", "stock.products")
    assert cards["name"] == tuple((table, "name") for table in bearers)
    assert cards["country. ISO 3166 code of the country"] == (("sales.customers", "country"),)
    assert list(cards) == sorted(cards)


def test_a_card_stays_short_however_much_there_is_to_say() -> None:
    columns = tuple(f"a_long_name_of_a_column_{number} text" for number in range(1600))
    card = build_cards(
        Catalog("wide", (build_table("s.wide", *columns, comment="word " * 100_000),))
    ).tables[0]
    assert len(card.summary) <= 2000
    assert "1599" in card.text
    assert len(card.text) < 100_000
