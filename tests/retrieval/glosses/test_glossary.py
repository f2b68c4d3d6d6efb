"""Glosses at question time."""

from __future__ import annotations

from collections.abc import Sequence

from nl2sql.errors import IndexUnavailable
from retrieval.glosses import IndexedGlossary
from retrieval.index_store.value_store import ValueColumn
from retrieval.vocabulary.synonyms import Synonyms
from tests.fakes import (
    CUSTOMERS,
    ORDERS,
    PRODUCTS,
    SHOP,
    FakeIndexStore,
    FakeVisibility,
    build_question,
)
from tests.retrieval.values.builders import FakeMemory

CATEGORY = ValueColumn("stock.products", "category", ("Bikes", "Tyres"))
STATUS = ValueColumn("sales.orders", "status", ("open", "shipped", "cancelled"))


def build_glossary(
    opened: Sequence[str] | None = None, error: Exception | None = None
) -> IndexedGlossary:
    return IndexedGlossary(
        FakeMemory(CATEGORY, STATUS, error=error),
        FakeVisibility(FakeIndexStore(), open_columns=opened),
        {"shop": Synonyms(columns={"sales.orders.total": ("worth",)})},
    )


async def test_columns_are_described_by_kind_synonyms_and_values() -> None:
    described = await build_glossary().describe(build_question(), [ORDERS, PRODUCTS], SHOP)
    assert described == (
        ("sales.orders.id", "[ID]"),
        ("sales.orders.customer_id", "[FK→customers]"),
        ("sales.orders.total", "also called worth"),
        ("stock.products.id", "[ID]"),
        ("stock.products.category", "values: 'Bikes', 'Tyres'"),
        ("stock.products.price", "[AMT]"),
    )


async def test_a_key_between_the_tables_is_not_told_twice() -> None:
    described = await build_glossary().describe(build_question(), [ORDERS, CUSTOMERS], SHOP)
    assert "sales.orders.customer_id" not in dict(described)


async def test_values_are_told_only_of_open_columns() -> None:
    glossary = build_glossary(opened=["sales.orders.status"])
    described = dict(await glossary.describe(build_question(), [PRODUCTS], SHOP))
    assert "Bikes" not in str(described)


async def test_without_an_index_only_the_values_are_missing() -> None:
    glossary = build_glossary(error=IndexUnavailable("it is down"))
    described = await glossary.describe(build_question(), [PRODUCTS], SHOP)
    assert described == (("stock.products.id", "[ID]"), ("stock.products.price", "[AMT]"))
