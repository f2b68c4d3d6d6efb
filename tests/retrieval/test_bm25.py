"""Keyword ranking over the cards of the shop."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Catalog
from retrieval.bm25 import KeywordRanking
from retrieval.cards import build_cards
from tests.fakes import SHOP, build_table

RANKING = KeywordRanking(build_cards(SHOP))


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which customers live in a country?", "sales.customers"),
        ("Reasons of returns", "stock.returns"),
        ("Products by category", "stock.products"),
        ("Who is the manager of each employee?", "sales.employees"),
    ],
)
def test_the_table_that_shares_the_words_comes_first(question: str, first: str) -> None:
    assert RANKING.rank(question, 3)[0] == first


def test_a_table_without_a_shared_word_is_not_listed() -> None:
    assert RANKING.rank("category", 10) == ["stock.products"]


@pytest.mark.parametrize("question", ["", "How many of the?", "weather forecast"])
def test_no_shared_word_is_no_table(question: str) -> None:
    assert RANKING.rank(question, 10) == []


def test_the_limit_holds() -> None:
    assert len(RANKING.rank("customer order product return price", 2)) == 2


def test_a_catalog_without_tables_ranks_nothing() -> None:
    assert KeywordRanking(()).rank("orders", 3) == []


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_word_counts_in_a_small_catalog_too(number: int) -> None:
    others = ("s.invoices", "s.letters")[: number - 1]
    tables = tuple(build_table(name, "x integer") for name in ("s.orders", *others))
    ranking = KeywordRanking(build_cards(Catalog("shop", tables)))
    assert ranking.rank("How many orders?", 3) == ["s.orders"]
