"""Modules from patterns, schemas and communities, and routing by words and nearest cards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nl2sql.catalog import Catalog
from retrieval.search.keywords import read_words
from retrieval.search.modules import ModuleRouter, find_modules
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


MODULES = {"sales": [0, 1], "stock": [2]}
DOCUMENTS = [["order", "total"], ["customer"], ["product", "price"]]
ROUTER = ModuleRouter(MODULES, DOCUMENTS)


@pytest.mark.parametrize(
    ("question", "cosines", "modules", "confidences", "method"),
    [
        ("orders", {0: 1.0}, ("sales",), (1.0,), "keywords+embedding"),
        ("hello", {2: 0.8}, ("stock",), (0.4,), "embedding"),
        ("orders", {2: 1.0}, ("sales", "stock"), (0.5, 0.5), "keywords+embedding"),
        ("in sales", {}, ("sales",), (0.5,), "keywords"),
        ("hello", {}, (), (), "none"),
    ],
)
def test_a_route_is_half_words_and_half_similarity(
    question: str,
    cosines: dict[int, float],
    modules: tuple[str, ...],
    confidences: tuple[float, ...],
    method: str,
) -> None:
    route = ROUTER.route(ROUTER.weigh(read_words(question), cosines))
    assert (route.modules, route.method) == (modules, method)
    assert route.confidences == pytest.approx(confidences, abs=1e-3)


def test_three_modules_at_most() -> None:
    router = ModuleRouter({f"m{number}": [number] for number in range(5)}, [["order"]] * 5)
    route = router.route(router.weigh(read_words("orders"), {}))
    assert route.modules == ("m0", "m1", "m2")
