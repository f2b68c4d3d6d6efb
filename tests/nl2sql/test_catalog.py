"""Names, modules and fingerprints of a catalog."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nl2sql.catalog import Catalog, Table
from tests.fakes import CUSTOMERS, SHOP, build_key, build_table

SALES_ITEMS = build_table("sales.items", "id integer")
STOCK_ITEMS = build_table("stock.items", "id integer")
HIDDEN = build_table("audit.log", "id integer")


def build_clash(*search_path: str) -> Catalog:
    return Catalog("shop", (SALES_ITEMS, STOCK_ITEMS, HIDDEN), search_path=search_path)


RESOLVED: dict[str, tuple[tuple[str, ...], str, str, Table | None]] = {
    "first_of_the_path": (("sales", "stock"), "items", "", SALES_ITEMS),
    "path_decides": (("stock", "sales"), "items", "", STOCK_ITEMS),
    "missing_schema_is_skipped": (("public", "stock"), "items", "", STOCK_ITEMS),
    "schema_given": (("sales",), "items", "stock", STOCK_ITEMS),
    "not_on_the_path": (("sales",), "log", "", None),
    "off_the_path_by_schema": (("sales",), "log", "audit", HIDDEN),
    "wrong_schema": (("sales",), "items", "audit", None),
    "names_are_exact": (("sales",), "ITEMS", "", None),
    "empty_path": ((), "items", "", None),
}


@pytest.mark.parametrize(("path", "name", "schema", "found"), RESOLVED.values(), ids=RESOLVED)
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


def change_customers(**changes: Any) -> dict[str, Any]:
    return {"tables": (replace(CUSTOMERS, **changes), *SHOP.tables[1:])}


CHANGES: dict[str, dict[str, Any]] = {
    "table_gone": {"tables": SHOP.tables[1:]},
    "comment": change_customers(comment="Who buys"),
    "primary_key": change_customers(primary_key=()),
    "kind": change_customers(kind="view"),
    "column_order": change_customers(columns=CUSTOMERS.columns[::-1]),
    "key_gone": {"foreign_keys": SHOP.foreign_keys[1:]},
    "other_key": {"foreign_keys": (build_key("sales.a(b)", "sales.c(d)"),)},
    "search_path": {"search_path": ("stock", "sales")},
    "database": {"database": "other"},
    "dialect": {"dialect": "sqlite"},
}


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_the_fingerprint_changes_with_anything_in_the_catalog(changes: dict[str, Any]) -> None:
    assert replace(SHOP, **changes).fingerprint != SHOP.fingerprint
