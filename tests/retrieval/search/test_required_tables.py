"""Tables that a question requires: by any spelling of a visible name, always shown, connected."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nl2sql.errors import InvalidRequest
from nl2sql.types import SchemaContext
from retrieval.search.keys import connect_tables, find_required
from tests.fakes import SHOP, build_question
from tests.retrieval.search.test_retriever import build_retriever, build_store

FEW: dict[str, Any] = {"max_tables": 1, "whole_tables": 0, "fk_expansion_limit": 0}


async def retrieve(*required: str, hidden: tuple[str, ...] = ()) -> SchemaContext:
    retriever = build_retriever(await build_store(), hidden=hidden, **FEW)
    question = replace(build_question(text="customer country"), tables=required)
    _, context = await retriever.retrieve(question)
    return context


@pytest.mark.parametrize("name", ["stock.returns", "returns", '"returns"', "RETURNS", " returns "])
def test_a_name_is_found_as_people_write_it(name: str) -> None:
    assert find_required(SHOP, (name, "returns")) == ("stock.returns",)


async def test_required_tables_come_first_with_those_between_them() -> None:
    context = await retrieve("returns", "customers")
    shown = [(hit.table.name, hit.via) for hit in context.tables]
    assert shown[:2] == [("returns", "required"), ("customers", "required")]
    assert {name for name, _ in shown[2:]} == {"order_lines", "orders"}
    assert context.required == ("stock.returns", "sales.customers")
    assert len(context.foreign_keys) == 3


async def test_a_question_that_requires_nothing_is_answered_as_before() -> None:
    context = await retrieve()
    assert [hit.table.name for hit in context.tables] == ["customers"]
    assert context.required == ()


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


def test_what_no_keys_connect_is_shown_all_the_same() -> None:
    assert connect_tables([1, 9], {1: {2}, 2: {1}}) == [1, 9]
    assert connect_tables([], {}) == []
