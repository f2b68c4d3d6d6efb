"""The text under which a table is found."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.catalog import Catalog
from retrieval.cards import build_cards
from tests.fakes import CUSTOMERS, SHOP, build_table


def test_a_card_reads_as_prose() -> None:
    card = build_cards(SHOP)[0]
    assert card.table == "sales.customers"
    assert card.summary == (
        "customer (sale). People and companies who buy Columns: id, name, country, loyalty tier."
    )
    assert card.text == f"{card.summary} ISO 3166 code of the country"


def test_there_is_one_card_a_table_in_the_order_of_the_catalog() -> None:
    assert [card.table for card in build_cards(SHOP)] == [each.qualified for each in SHOP.tables]


def test_the_hash_changes_with_what_is_embedded_only() -> None:
    def hash_of(**changes: object) -> str:
        table = replace(CUSTOMERS, **changes)  # type: ignore[arg-type]
        return build_cards(Catalog("shop", (table,)))[0].sha256

    other_comment = tuple(replace(each, comment="x") for each in CUSTOMERS.columns)
    other_type = tuple(replace(each, type="x") for each in CUSTOMERS.columns)
    assert hash_of(comment="Who buys") != hash_of()
    assert hash_of(columns=CUSTOMERS.columns[1:]) != hash_of()
    assert hash_of(columns=other_comment) == hash_of()
    assert hash_of(columns=other_type) == hash_of()


def test_a_table_without_columns_and_comment_has_a_card() -> None:
    (card,) = build_cards(Catalog("shop", (build_table("s.log"),)))
    assert card.text.startswith("log (")
