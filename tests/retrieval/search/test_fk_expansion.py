"""Neighbours over foreign keys; tables are numbers."""

from __future__ import annotations

import pytest

from retrieval.search.fk_expansion import expand_by_foreign_keys

# customers - orders - lines - products - categories; orders - employees; lines - returns
CUSTOMERS, ORDERS, LINES, PRODUCTS, CATEGORIES, EMPLOYEES, RETURNS = range(7)


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


@pytest.mark.parametrize(
    ("found", "limit", "neighbours"),
    [
        pytest.param([ORDERS, PRODUCTS], 1, [LINES], id="the_bridge_between_two_comes_first"),
        pytest.param(
            [ORDERS, PRODUCTS],
            9,
            [LINES, CUSTOMERS, EMPLOYEES, CATEGORIES],
            id="then_the_neighbours_of_the_best",
        ),
        pytest.param([CUSTOMERS, PRODUCTS], 2, [ORDERS, LINES], id="a_bridge_of_two_tables"),
        pytest.param([CUSTOMERS, PRODUCTS], 1, [ORDERS], id="half_a_bridge_is_a_neighbour"),
        pytest.param([RETURNS, CUSTOMERS], 2, [LINES, ORDERS], id="from_the_better_end"),
        pytest.param([ORDERS], 0, [], id="no_room"),
        pytest.param([], 9, [], id="nothing_found"),
        pytest.param([99], 9, [], id="a_table_without_keys"),
    ],
)
def test_neighbours_are_ranked(found: list[int], limit: int, neighbours: list[int]) -> None:
    assert expand_by_foreign_keys(found, SHOP, limit) == neighbours


def test_a_hub_brings_in_nothing_but_is_brought_in() -> None:
    spokes = range(1, 101)
    star = join(*((0, spoke) for spoke in spokes))
    assert expand_by_foreign_keys([0], star, 3) == []
    assert expand_by_foreign_keys([1, 2], star, 3) == [0]
