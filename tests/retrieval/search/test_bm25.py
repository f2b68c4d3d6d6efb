"""Keyword scores, and what is first among them."""

from __future__ import annotations

import numpy as np
import pytest

from nl2sql.words import content_words
from retrieval.search.bm25 import KeywordIndex, rank_scores
from retrieval.search.cards import build_cards
from tests.fakes import SHOP

NAMES = [table.qualified for table in SHOP.tables]
INDEX = KeywordIndex([content_words(card.text) for card in build_cards(SHOP).tables])


def rank(question: str, limit: int = 10) -> list[str]:
    return [NAMES[at] for at in rank_scores(INDEX.score(content_words(question)), limit)]


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
    assert rank(question)[0] == first


def test_a_table_without_a_shared_word_is_not_listed() -> None:
    assert rank("category") == ["stock.products"]


@pytest.mark.parametrize("question", ["", "How many of the?", "weather forecast"])
def test_no_shared_word_is_no_table(question: str) -> None:
    assert rank(question) == []


def test_the_limit_holds() -> None:
    assert len(rank("customer order product return price", 2)) == 2


@pytest.mark.parametrize("documents", [[], [[]], [[], []]])
def test_documents_without_words_score_nothing(documents: list[list[str]]) -> None:
    assert KeywordIndex(documents).score(["order"]).tolist() == [0.0] * len(documents)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_word_counts_where_all_or_few_documents_have_it(number: int) -> None:
    index = KeywordIndex([["order"], *[["order", "line"]] * number])
    assert all(score > 0 for score in index.score(["order"]))


def test_ties_stay_in_order() -> None:
    scores = np.array([1, 2, 2, 2, 0], dtype=np.float32)
    assert rank_scores(scores, 2) == [1, 2]
    assert rank_scores(scores, 9) == [1, 2, 3, 0]
