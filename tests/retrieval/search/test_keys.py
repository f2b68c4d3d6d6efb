"""The walk over foreign keys, and tables that a question requires."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.search.keys import add_key_walk, find_table
from tests.fakes import SHOP, build_table

# customers - orders - lines - products - categories; orders - employees; lines - returns
CUSTOMERS, ORDERS, LINES, PRODUCTS, CATEGORIES, EMPLOYEES, RETURNS, OTHER = range(8)


def join(*pairs: tuple[int, int]) -> dict[int, set[int]]:
    neighbours: dict[int, set[int]] = {}
    for left, right in pairs:
        neighbours.setdefault(left, set()).add(right)
        neighbours.setdefault(right, set()).add(left)
    return neighbours


NEIGHBOURS = join(
    (CUSTOMERS, ORDERS),
    (ORDERS, LINES),
    (LINES, PRODUCTS),
    (PRODUCTS, CATEGORIES),
    (ORDERS, EMPLOYEES),
    (LINES, RETURNS),
)


def rank(weights: dict[int, float], neighbours: dict[int, set[int]] = NEIGHBOURS) -> list[int]:
    found = add_key_walk(weights, neighbours, 0.5)
    return sorted(found, key=lambda table: -found[table])


def test_the_bridge_between_two_good_tables_comes_before_other_neighbours() -> None:
    order = rank({ORDERS: 1.0, PRODUCTS: 1.0, OTHER: 0.2})
    assert order[:3] == [ORDERS, PRODUCTS, LINES]
    assert {*order[3:]} == {CUSTOMERS, EMPLOYEES, CATEGORIES, RETURNS, OTHER}


def test_a_hub_brings_in_nothing() -> None:
    star = join(*((0, spoke) for spoke in range(1, 101)))
    assert add_key_walk({0: 1.0}, star, 0.5).keys() == {0}
    assert 0 in add_key_walk({1: 1.0, 2: 0.9}, star, 0.5)


@pytest.mark.parametrize("name", ["stock.returns", "returns", '"returns"', "RETURNS", " returns "])
def test_a_name_is_found_as_people_write_it(name: str) -> None:
    assert find_table(SHOP, name) == SHOP.table("stock.returns")


def test_a_name_outside_the_search_path_is_found_if_only_one_schema_has_it() -> None:
    catalog = replace(SHOP, search_path=("sales",))
    assert find_table(catalog, "products") == SHOP.table("stock.products")
    both = replace(catalog, tables=(*SHOP.tables, build_table("old.products", "id integer")))
    assert find_table(both, "products") is None
