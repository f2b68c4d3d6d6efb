"""An index is refreshed by what changed."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.catalog import Catalog, Column, Table
from retrieval.indexing import describe_catalog, list_describable
from tests.fakes import SHOP, FakeEmbedder, FakeIndexStore
from tests.retrieval.indexed import index, index_database


async def test_an_unchanged_database_embeds_and_writes_nothing() -> None:
    store, embedder = FakeIndexStore(), FakeEmbedder()
    await index(store, SHOP, embedder)
    assert await index_database(replace(SHOP), store, embedder) is None
    assert len(embedder.texts) == 24
    assert store.replaced == ["shop"]


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
    described = describe_catalog(SHOP, {"sales.Customers.id": "its number"})
    customers = described.resolve("customers")
    assert customers is not None
    column = customers.column("id")
    assert column is not None
    assert column.comment == "its number"


def test_a_name_that_two_schemas_have_describes_none_of_them() -> None:
    tables = tuple(Table(schema, "orders", (Column("id", "int"),)) for schema in ("sales", "hr"))
    catalog = Catalog("shop", tables, dialect="postgres", search_path=("sales", "hr"))
    described = describe_catalog(catalog, {"orders": "Which?", "hr.orders": "Leave"})
    assert [table.comment for table in described.tables] == ["", "Leave"]
    assert list_describable(catalog) == {
        *("sales.orders", "sales.orders.id", "hr.orders", "hr.orders.id"),
    }
