"""Neighbours over foreign keys."""

from __future__ import annotations

import pytest

from retrieval.fk_expansion import expand_by_foreign_keys
from tests.fakes import SHOP

KEYS = SHOP.foreign_keys


@pytest.mark.parametrize(
    ("found", "limit", "neighbours"),
    [
        pytest.param(
            ["sales.orders", "stock.products"],
            1,
            ["sales.order_lines"],
            id="the_bridge_between_two_comes_first",
        ),
        pytest.param(
            ["sales.orders", "stock.products"],
            9,
            ["sales.order_lines", "sales.customers", "sales.employees"],
            id="then_the_others_by_name",
        ),
        pytest.param(
            ["stock.returns", "sales.customers"],
            9,
            ["sales.order_lines", "sales.orders"],
            id="neighbours_of_the_best_first",
        ),
        pytest.param(
            ["sales.customers", "stock.returns"],
            9,
            ["sales.orders", "sales.order_lines"],
            id="the_rank_decides",
        ),
        pytest.param(["sales.employees"], 9, ["sales.orders"], id="a_key_onto_itself_adds_nothing"),
        pytest.param(["sales.orders"], 0, [], id="no_room"),
        pytest.param([], 9, [], id="nothing_found"),
        pytest.param(["s.unknown"], 9, [], id="unknown_table"),
    ],
)
def test_neighbours_are_ranked(found: list[str], limit: int, neighbours: list[str]) -> None:
    assert expand_by_foreign_keys(found, KEYS, limit) == neighbours
