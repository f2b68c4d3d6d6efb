"""The walk over foreign keys; tables are numbers."""

from __future__ import annotations

from retrieval.search.keys import add_key_walk

# customers - orders - lines - products - categories; orders - employees; lines - returns
CUSTOMERS, ORDERS, LINES, PRODUCTS, CATEGORIES, EMPLOYEES, RETURNS, OTHER = range(8)


def join(*pairs: tuple[int, int]) -> dict[int, set[int]]:
    neighbours: dict[int, set[int]] = {}
    for left, right in pairs:
        neighbours.setdefault(left, set()).add(right)
        neighbours.setdefault(right, set()).add(left)
    return neighbours


SHOP = join(
    (CUSTOMERS, ORDERS),
    (ORDERS, LINES),
    (LINES, PRODUCTS),
    (PRODUCTS, CATEGORIES),
    (ORDERS, EMPLOYEES),
    (LINES, RETURNS),
)


def rank(weights: dict[int, float], neighbours: dict[int, set[int]] = SHOP) -> list[int]:
    found = add_key_walk(weights, neighbours, 0.5)
    return sorted(found, key=lambda table: -found[table])


def test_the_bridge_between_two_good_tables_comes_before_other_neighbours() -> None:
    order = rank({ORDERS: 1.0, PRODUCTS: 1.0, OTHER: 0.2})
    assert order[:3] == [ORDERS, PRODUCTS, LINES]
    assert {*order[3:]} == {CUSTOMERS, EMPLOYEES, CATEGORIES, RETURNS, OTHER}


def test_a_path_of_two_tables_is_reached_from_both_ends() -> None:
    assert {ORDERS, LINES} <= {*rank({CUSTOMERS: 1.0, PRODUCTS: 1.0})}


def test_a_table_near_to_the_best_passes_one_that_is_not() -> None:
    weights = {ORDERS: 1.0, OTHER: 0.5, CUSTOMERS: 0.49, PRODUCTS: 0.1}
    assert rank(weights, {})[:2] == [ORDERS, OTHER]
    assert rank(weights)[:2] == [ORDERS, CUSTOMERS]


def test_tables_that_no_key_reaches_keep_their_weight() -> None:
    assert add_key_walk({OTHER: 0.4, ORDERS: 1.0}, SHOP, 0.5)[OTHER] == 0.4


def test_a_hub_brings_in_nothing() -> None:
    star = join(*((0, spoke) for spoke in range(1, 101)))
    assert add_key_walk({0: 1.0}, star, 0.5).keys() == {0}
    assert 0 in add_key_walk({1: 1.0, 2: 0.9}, star, 0.5)


def test_nothing_found_reaches_nothing() -> None:
    assert add_key_walk({}, SHOP, 0.5) == {}
