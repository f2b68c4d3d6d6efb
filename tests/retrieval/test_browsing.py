"""What principals see when they browse tables: entries, columns, keys, values, definitions."""

from __future__ import annotations

from typing import Any, cast

import pytest

from nl2sql.catalog import Catalog
from nl2sql.errors import Forbidden
from nl2sql.types import Definition, Principal, Violation
from quorumsql.contract.schema import (
    ColumnDetailsResponse,
    NeighbourResponse,
    TableDetailsResponse,
    TablesResponse,
)
from retrieval.index_store.indexed_database import IndexedDatabase
from retrieval.index_store.value_store import ValueColumn
from retrieval.schema_directory import SchemaDirectory
from retrieval.semantics.layer import SemanticLayer
from retrieval.semantics.semantics_file import parse_semantics
from retrieval.vocabulary.terms import Synonyms
from tests.fakes import (
    SHOP,
    FakeCatalogs,
    FakeGuard,
    FakeIndexStore,
    FakeVisibility,
    build_violation,
)
from tests.retrieval.directories import build_directory

MIA = Principal("mia")
STATES = ("cancelled", "open", "shipped")
VALUES = (
    ValueColumn("sales.orders", "status", STATES),
    ValueColumn("sales.customers", "country", tuple(f"C{number:03}" for number in range(80))),
    ValueColumn("sales.customers", "name", ("Ada", "Ben")),
)


def keep(catalog: Catalog) -> FakeIndexStore:
    """A store with the catalog alone."""
    store, nothing = FakeIndexStore(), cast(Any, None)
    store.indexes[catalog.database] = IndexedDatabase(nothing, catalog, nothing, nothing)
    return store


def build(
    catalog: Catalog = SHOP,
    *,
    definitions: SemanticLayer | None = None,
    visibility: FakeVisibility | None = None,
    **limits: Any,
) -> SchemaDirectory:
    visibility = visibility or FakeVisibility(keep(catalog), **limits)
    synonyms = Synonyms(
        tables={"sales.orders": ("purchases",)}, columns={"sales.orders.total": ("worth",)}
    )
    return build_directory(visibility, *VALUES, synonyms=synonyms, definitions=definitions)


async def list_tables(tables: SchemaDirectory, search: str = "") -> list[str]:
    page = await tables.find_tables("shop", search, MIA, "", 50)
    assert isinstance(page, TablesResponse)
    assert page.total == len(page.tables)
    return [entry.table for entry in page.tables]


async def describe(tables: SchemaDirectory, name: str) -> TableDetailsResponse:
    found = await tables.describe_table("shop", name, MIA)
    assert isinstance(found, TableDetailsResponse)
    return found


def pick(details: TableDetailsResponse, name: str) -> ColumnDetailsResponse:
    return next(each for each in details.columns if each.name == name)


# -- lists -----------------------------------------------------------------------------------------


async def test_an_entry_tells_what_a_table_is() -> None:
    page = await build().find_tables("shop", "orders", MIA, "", 1)
    assert isinstance(page, TablesResponse)
    (entry,) = page.tables
    assert entry.table == "sales.orders"
    assert entry.comment == "What customers ordered"
    assert entry.gloss == "also called purchases"
    assert (entry.columns, entry.module, entry.database_schema) == (6, "sales", "sales")
    assert page.schemas == 2
    assert page.next
    assert page.total > 1


async def test_what_is_hidden_is_not_found_by_any_word() -> None:
    hidden = ("sales.employees", "sales.customers.Loyalty Tier", "sales.orders.total")
    tables = build(hidden=hidden)
    assert "sales.employees" not in await list_tables(tables)
    for word in ("manager", "loyalty", "tier", "euros"):
        assert await list_tables(tables, word) == []
    assert await list_tables(build(), "euros") == ["sales.orders"]


# -- one table -------------------------------------------------------------------------------------


async def test_a_table_in_detail() -> None:
    found = await describe(build(), "sales.orders")
    assert (found.table, found.kind, found.primary_key) == ("sales.orders", "table", ["id"])
    assert pick(found, "id").is_key
    assert pick(found, "customer_id").refers_to == "sales.customers.id"
    assert pick(found, "total").gloss == "also called worth"
    assert pick(found, "total").comment == "in euros"
    assert pick(found, "status").values == list(STATES)
    assert not pick(found, "status").values_truncated
    assert [key.table for key in found.keys] == ["sales.customers", "sales.employees"]
    assert found.neighbours == [
        NeighbourResponse(table="sales.customers", columns="customer_id = id", direction="out"),
        NeighbourResponse(table="sales.employees", columns="seller_id = id", direction="out"),
        NeighbourResponse(table="sales.order_lines", columns="id = order_id", direction="in"),
    ]
    assert found.neighbours_total == 3


@pytest.mark.parametrize("name", ["sales.employees", "employees", "sales.invented", "", ".", "%"])
async def test_a_hidden_table_is_as_unknown_as_an_invented_one(name: str) -> None:
    tables = build(hidden=["sales.employees"])
    assert await tables.describe_table("shop", name, MIA) is None


async def test_keys_to_what_is_hidden_are_not_told() -> None:
    found = await describe(build(hidden=["sales.employees"]), "sales.orders")
    assert [key.table for key in found.keys] == ["sales.customers"]
    assert pick(found, "seller_id").refers_to is None
    assert "sales.employees" not in [neighbour.table for neighbour in found.neighbours]


# -- values ----------------------------------------------------------------------------------------


async def test_values_are_shown_only_where_all_rows_may_be_seen() -> None:
    tables = build(open_columns=["sales.customers.country"])
    column = pick(await describe(tables, "sales.orders"), "status")
    assert (column.values, column.values_truncated) == ([], False)
    country = pick(await describe(tables, "sales.customers"), "country")
    assert (len(country.values), country.values_truncated) == (50, True)


async def test_a_masked_column_is_marked_and_shows_no_value() -> None:
    tables = build(masked=["sales.orders.status", "sales.customers.name"])
    status = pick(await describe(tables, "sales.orders"), "status")
    assert (status.is_masked, status.values, status.values_truncated) == (True, [], False)
    assert not pick(await describe(tables, "sales.orders"), "total").is_masked


# -- refusals, errors, definitions -----------------------------------------------------------------


async def test_who_may_see_nothing_is_told_so() -> None:
    tables = build(refusal=build_violation("not_permitted"))
    for asking in (
        tables.find_tables("shop", "", MIA, "", 5),
        tables.describe_table("shop", "sales.orders", MIA),
        tables.list_definitions("shop", MIA),
        tables.describe_tables("shop", (), MIA, 10),
    ):
        with pytest.raises(Forbidden):
            await asking


SEMANTICS = parse_semantics(
    {
        "version": 1,
        "measures": {
            "revenue": {"expression": "sum(orders.total)", "synonyms": ["turnover", "Net sales"]}
        },
        "dimensions": {"tier": 'customers."Loyalty Tier"'},
        "filters": {"open orders": "orders.status = 'open'"},
    }
)


async def list_names(**limits: Any) -> list[tuple[str, tuple[str, ...]]]:
    layer = SemanticLayer({"shop": SEMANTICS}, FakeCatalogs(SHOP), FakeGuard())
    found = await build(definitions=layer, **limits).list_definitions("shop", MIA)
    assert not isinstance(found, Violation)
    assert all(isinstance(each, Definition) for each in found)
    return [(each.name, each.synonyms) for each in found]


async def test_definitions_are_those_whose_columns_are_all_visible() -> None:
    revenue, tier, opened = (
        ("revenue", ("turnover", "Net sales")),
        ("tier", ()),
        ("open orders", ()),
    )
    assert await list_names() == [revenue, tier, opened]
    assert await list_names(hidden=["sales.orders.total"]) == [tier, opened]
    assert await list_names(hidden=["sales.orders"]) == [tier]
    assert await build().list_definitions("shop", MIA) == ()
