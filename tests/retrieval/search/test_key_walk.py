"""The walk over foreign keys; tables are numbers."""

from __future__ import annotations

from retrieval.search.key_walk import walk_keys

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
    """The tables by their weight and half of what the walk brings them."""
    walked = walk_keys(weights, neighbours)
    found = {
        table: weights.get(table, 0.0) + 0.5 * walked.get(table, 0.0)
        for table in {**weights, **walked}
    }
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


def test_the_best_is_reached_most_and_a_table_without_keys_that_is_not_good_not_at_all() -> None:
    walked = walk_keys({OTHER: 0.4, ORDERS: 1.0}, SHOP)
    assert max(walked.values()) == walked[ORDERS] == 1.0
    assert walked[OTHER] == 0.0


def test_a_hub_brings_in_nothing() -> None:
    star = join(*((0, spoke) for spoke in range(1, 101)))
    assert walk_keys({0: 1.0}, star).keys() == {0}
    assert 0 in walk_keys({1: 1.0, 2: 0.9}, star)


def test_nothing_found_reaches_nothing() -> None:
    assert walk_keys({}, SHOP) == {}
