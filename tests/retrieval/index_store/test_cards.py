"""The text under which a table is found."""

from __future__ import annotations

from nl2sql.catalog import Catalog
from retrieval.index_store.cards import build_cards
from tests.fakes import SHOP, build_table


def test_a_card_reads_as_prose() -> None:
    card = build_cards(SHOP).tables[0]
    assert card.table == "sales.customers"
    assert card.summary == (
        "customer (sale). People and companies who buy Columns: id, name, country, loyalty tier."
    )
    assert card.text == f"{card.summary} ISO 3166 code of the country"


def test_a_gloss_of_a_table_is_embedded_and_one_of_a_column_is_read() -> None:
    glosses = {"sales.customers": "clients", "sales.customers.name": "full name"}
    card = build_cards(SHOP, glosses).tables[0]
    assert card.summary.startswith("customer (sale). People and companies who buy clients Columns:")
    assert card.text.endswith("full name ISO 3166 code of the country")


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
