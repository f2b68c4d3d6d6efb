"""The walk over foreign keys, and tables that a question requires."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nl2sql.errors import InvalidRequest
from nl2sql.types import SchemaContext
from retrieval.search.keys import add_key_walk, find_required
from tests.fakes import SHOP, build_question, build_table
from tests.retrieval.test_retriever import build_retriever, build_store

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


FEW: dict[str, Any] = {"max_tables": 1, "whole_tables": 0, "fk_expansion_limit": 0}


async def retrieve(*required: str, hidden: tuple[str, ...] = ()) -> SchemaContext:
    retriever = build_retriever(await build_store(), hidden=hidden, **FEW)
    question = replace(build_question(text="customer country"), tables=required)
    _, context = await retriever.retrieve(question)
    return context


@pytest.mark.parametrize("name", ["stock.returns", "returns", '"returns"', "RETURNS", " returns "])
def test_a_name_is_found_as_people_write_it(name: str) -> None:
    assert find_required(SHOP, (name, "returns")) == ("stock.returns",)


def test_a_name_outside_the_search_path_is_found_if_only_one_schema_has_it() -> None:
    catalog = replace(SHOP, search_path=("sales",))
    assert find_required(catalog, ("products",)) == ("stock.products",)
    both = replace(catalog, tables=(*SHOP.tables, build_table("old.products", "id integer")))
    with pytest.raises(InvalidRequest):
        find_required(both, ("products",))


async def test_required_tables_come_first_with_those_between_them() -> None:
    context = await retrieve("returns", "customers")
    shown = [(hit.table.name, hit.via) for hit in context.tables]
    assert shown[:2] == [("returns", "required"), ("customers", "required")]
    assert {name for name, _ in shown[2:]} == {"order_lines", "orders"}
    assert context.required == ("stock.returns", "sales.customers")
    assert len(context.foreign_keys) == 3


async def test_a_hidden_table_is_as_unknown_as_one_that_does_not_exist() -> None:
    without = replace(SHOP, tables=tuple(table for table in SHOP.tables if table.name != "returns"))
    with pytest.raises(InvalidRequest) as missing:
        find_required(without, ("returns",))
    with pytest.raises(InvalidRequest) as hidden:
        await retrieve("returns", hidden=("stock.returns",))
    assert hidden.value.field == "tables"
    assert str(hidden.value) == str(missing.value)
    # Nor is it the hint to a name like it.
    with pytest.raises(InvalidRequest) as similar:
        await retrieve("returnz", hidden=("stock.returns",))
    assert "returns" not in str(similar.value)


async def test_the_most_similar_visible_name_is_a_hint() -> None:
    with pytest.raises(InvalidRequest, match=r"no table 'custmers' .* Did you mean customers"):
        await retrieve("custmers")
