"""Modules from patterns, schemas and communities of the foreign-key graph."""

from __future__ import annotations

from dataclasses import replace

from nl2sql.catalog import Catalog
from retrieval.search.modules import find_modules
from tests.fakes import SHOP, build_key, build_table


def build_two_stars() -> Catalog:
    """One schema: fifteen tables around orders, fifteen around employees, one alone."""
    tables = [build_table("public.log", "id integer")]
    keys = []
    for hub in ("order", "employee"):
        tables.append(build_table(f"public.{hub}s", "id integer", key=("id",)))
        for number in range(14):
            tables.append(build_table(f"public.{hub}_part{number}", "hub_id integer"))
            keys.append(build_key(f"public.{hub}_part{number}(hub_id)", f"public.{hub}s(id)"))
    return Catalog("one", tuple(tables), tuple(keys))


def test_the_schemas_of_a_database_are_its_modules() -> None:
    modules = find_modules(SHOP, {})
    assert {name: len(tables) for name, tables in modules.items()} == {"sales": 4, "stock": 2}


def test_patterns_come_first_and_the_rest_keeps_its_schema() -> None:
    modules = find_modules(SHOP, {"people": ["sales.customers", "*.employees"], "none": ["x.*"]})
    names = {module: [SHOP.tables[at].name for at in tables] for module, tables in modules.items()}
    assert names == {
        "people": ["customers", "employees"],
        "sales": ["order_lines", "orders"],
        "stock": ["products", "returns"],
    }


def test_one_large_schema_falls_into_communities_named_by_their_commonest_word() -> None:
    catalog = build_two_stars()
    modules = find_modules(catalog, {})
    assert {name: len(tables) for name, tables in modules.items()} == {
        "order": 15,
        "employee": 15,
        "public": 1,
    }
    assert find_modules(catalog, {}) == modules


def test_inferred_keys_join_tables_too() -> None:
    catalog = build_two_stars()
    inferred = replace(catalog, foreign_keys=(), inferred_keys=catalog.foreign_keys)
    assert find_modules(inferred, {}) == find_modules(catalog, {})


def test_every_table_is_in_one_module() -> None:
    catalog = build_two_stars()
    modules = find_modules(catalog, {"parts": ["*part1*"]})
    assert sorted(at for tables in modules.values() for at in tables) == list(range(31))


def test_an_empty_catalog_has_no_modules() -> None:
    assert find_modules(Catalog("empty", ()), {}) == {}
