"""What a build would change, told table by table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nl2sql.catalog import Catalog, Column
from retrieval.index_store.cards import build_cards
from retrieval.index_store.generations import IndexedDatabase
from retrieval.indexing import index_database
from retrieval.indexing.difference import TableChange, compare_catalogs, compare_index
from tests.fakes import CUSTOMERS, ORDERS, SHOP, FakeEmbedder, FakeIndexStore, build_key


async def build_live() -> IndexedDatabase:
    store = FakeIndexStore()
    await index_database(SHOP, store, FakeEmbedder())
    return store.indexes["shop"]


def with_customers(**changes: object) -> Catalog:
    return replace(SHOP, tables=(replace(CUSTOMERS, **changes), *SHOP.tables[1:]))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changed", "table", "details"),
    [
        (with_customers(comment="Buyers"), "sales.customers", ["other comment"]),
        (with_customers(kind="view"), "sales.customers", ["other kind"]),
        (with_customers(primary_key=()), "sales.customers", ["primary key: (id) → ()"]),
        (
            with_customers(columns=CUSTOMERS.columns[::-1]),
            "sales.customers",
            ["columns in another order"],
        ),
        (
            with_customers(
                columns=(
                    Column("id", "bigint", nullable=False),
                    *CUSTOMERS.columns[2:],
                    Column("vat no", "text"),
                )
            ),
            "sales.customers",
            ["column id: integer → bigint", "column name removed", "column vat no added"],
        ),
        (
            with_customers(
                columns=(replace(CUSTOMERS.columns[0], nullable=True, comment="The number"),
                         *CUSTOMERS.columns[1:])
            ),
            "sales.customers",
            ["column id: NULL allowed, other comment"],
        ),
        (
            replace(SHOP, foreign_keys=(build_key("sales.orders(id)", "sales.employees(id)"),)),
            "sales.orders",
            [
                "foreign key (customer_id) → sales.customers (id) removed",
                "foreign key (seller_id) → sales.employees (id) removed",
                "foreign key (id) → sales.employees (id) added",
            ],
        ),
    ],
    ids=["comment", "kind", "primary_key", "order", "columns", "one_column", "foreign_keys"],
)  # fmt: skip
def test_a_change_is_told(changed: Catalog, table: str, details: list[str]) -> None:
    found = {change.table: change for change in compare_catalogs(SHOP, changed)}
    assert found[table] == TableChange(table, "changed", tuple(details))


async def test_an_index_that_is_current_has_no_difference() -> None:
    found = compare_index(await build_live(), SHOP, build_cards(SHOP), "fake")
    assert not found
    assert found.to_embed == 0


async def test_inferred_keys_are_no_difference() -> None:
    inferred = replace(SHOP, inferred_keys=(replace(SHOP.foreign_keys[0], inferred=True),))
    assert not compare_index(await build_live(), inferred, build_cards(inferred), "fake")


async def test_other_words_for_the_same_table_are_a_difference() -> None:
    cards = build_cards(SHOP, {ORDERS.qualified: "purchases"})
    found = compare_index(await build_live(), SHOP, cards, "fake")
    assert found.changes == (TableChange("sales.orders", "changed", ("described in other words",)),)


async def test_another_embedder_embeds_everything_anew() -> None:
    found = compare_index(await build_live(), SHOP, build_cards(SHOP), "other")
    assert found.changes == (TableChange("", "changed", ("embedder: fake → other",)),)
    assert found.to_embed == 24
