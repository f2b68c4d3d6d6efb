"""Which tables and columns a question names."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Catalog
from retrieval.schema_linker import link_schema
from tests.fakes import build_context, build_table

CONTEXT = build_context()


def link(question: str) -> dict[tuple[str, str], float]:
    return {(each.table, each.column): each.score for each in link_schema(question, CONTEXT).links}


@pytest.mark.parametrize(
    ("question", "table", "column", "score"),
    [
        ("How many orders?", "sales.orders", "", 1.0),
        ("Show order lines", "sales.order_lines", "", 1.0),
        ("lines please", "sales.order_lines", "", 0.5),
        ("total of all", "sales.orders", "total", 1.0),
        ("by loyalty tier", "sales.customers", "Loyalty Tier", 1.0),
        ("which products", "sales.order_lines", "product_id", 0.5),
        ("employee who sold it", "sales.orders", "seller_id", 0.5),
    ],
)
def test_a_link_has_the_share_of_the_words_of_the_name(
    question: str, table: str, column: str, score: float
) -> None:
    assert link(question)[table, column] == score


@pytest.mark.parametrize("question", ["the name and id", "status code", "weather", ""])
def test_words_of_every_schema_link_nothing(question: str) -> None:
    assert link(question) == {}


def test_links_come_best_first_and_then_by_name() -> None:
    links = link_schema("order lines with price", CONTEXT).links
    assert [each.score for each in links] == sorted((each.score for each in links), reverse=True)
    assert [(each.table, each.column) for each in links[:3]] == [
        ("sales.order_lines", ""),
        ("sales.order_lines", "price"),
        ("sales.orders", ""),
    ]


def test_at_most_twenty_four_links() -> None:
    table = build_table("s.wide", *(f"price_{number} integer" for number in range(40)))
    context = build_context(Catalog("shop", (table,)))
    assert len(link_schema("price", context).links) == 24
