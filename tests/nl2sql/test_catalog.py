"""Names, modules and fingerprints of a catalog."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nl2sql.catalog import Catalog, Table
from tests.fakes import CUSTOMERS, PRODUCTS, SHOP, build_key, build_table

SALES_ITEMS = build_table("sales.items", "id integer")
STOCK_ITEMS = build_table("stock.items", "id integer")
HIDDEN = build_table("audit.log", "id integer")


def build_clash(*search_path: str) -> Catalog:
    return Catalog("shop", (SALES_ITEMS, STOCK_ITEMS, HIDDEN), search_path=search_path)


@pytest.mark.parametrize(
    ("path", "name", "schema", "found"),
    [
        (("sales", "stock"), "items", "", SALES_ITEMS),
        (("stock", "sales"), "items", "", STOCK_ITEMS),
        (("public", "stock"), "items", "", STOCK_ITEMS),
        (("sales",), "items", "stock", STOCK_ITEMS),
        (("sales",), "log", "", None),
        (("sales",), "log", "audit", HIDDEN),
        (("sales",), "items", "audit", None),
        (("sales",), "ITEMS", "", None),
        ((), "items", "", None),
    ],
    ids=[
        "first_of_the_path",
        "path_decides",
        "missing_schema_is_skipped",
        "schema_given",
        "not_on_the_path",
        "off_the_path_by_schema",
        "wrong_schema",
        "names_are_exact",
        "empty_path",
    ],
)
def test_a_name_resolves_as_the_server_would(
    path: tuple[str, ...], name: str, schema: str, found: Table | None
) -> None:
    assert build_clash(*path).resolve(name, schema) is found


def test_a_short_name_needs_the_search_path_and_no_namesake() -> None:
    assert build_clash("sales", "stock").short_names == {
        "sales.items": "sales.items",
        "stock.items": "stock.items",
        "audit.log": "audit.log",
    }
    assert SHOP.short_names["stock.products"] == "products"


def test_every_short_name_resolves_to_its_table() -> None:
    for catalog in (SHOP, build_clash("sales", "stock", "audit"), build_clash("audit")):
        for qualified, short in catalog.short_names.items():
            schema, _, name = short.rpartition(".")
            table = catalog.resolve(name, schema)
            assert table is not None
            assert table.qualified == qualified


def test_a_table_is_found_by_its_qualified_name_only() -> None:
    assert SHOP.table("stock.products") is PRODUCTS
    assert SHOP.table("products") is None


def test_a_column_is_found_by_name() -> None:
    column = CUSTOMERS.column("Loyalty Tier")
    assert column is not None
    assert column.type == "text"
    assert CUSTOMERS.column("loyalty tier") is None


@pytest.mark.parametrize(
    "changed",
    [
        replace(SHOP, tables=SHOP.tables[1:]),
        replace(SHOP, tables=(replace(CUSTOMERS, comment="Who buys"), *SHOP.tables[1:])),
        replace(SHOP, tables=(replace(CUSTOMERS, primary_key=()), *SHOP.tables[1:])),
        replace(SHOP, tables=(replace(CUSTOMERS, kind="view"), *SHOP.tables[1:])),
        replace(
            SHOP,
            tables=(
                replace(CUSTOMERS, columns=tuple(reversed(CUSTOMERS.columns))),
                *SHOP.tables[1:],
            ),
        ),
        replace(SHOP, foreign_keys=SHOP.foreign_keys[1:]),
        replace(SHOP, foreign_keys=(build_key("sales.a(b)", "sales.c(d)"),)),
        replace(SHOP, search_path=("stock", "sales")),
        replace(SHOP, database="other"),
        replace(SHOP, dialect="sqlite"),
    ],
    ids=[
        "table_gone",
        "comment",
        "primary_key",
        "kind",
        "column_order",
        "key_gone",
        "other_key",
        "search_path",
        "database",
        "dialect",
    ],
)
def test_the_fingerprint_changes_with_anything_in_the_catalog(changed: Catalog) -> None:
    assert changed.fingerprint != SHOP.fingerprint


def test_the_fingerprint_of_equal_catalogs_is_equal() -> None:
    assert replace(SHOP).fingerprint == SHOP.fingerprint
