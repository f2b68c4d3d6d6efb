"""The words that keyword search looks for, their scores, and how rankings are fused."""

from __future__ import annotations

import pytest

from nl2sql.words import content_words
from retrieval.index_store.cards import build_cards
from retrieval.search.keywords import (
    KeywordIndex,
    fuse_rankings,
    rank_scores,
    read_draft,
    read_words,
)
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


@pytest.mark.parametrize("question", ["", "How many of the?", "weather forecast"])
def test_no_shared_word_is_no_table(question: str) -> None:
    assert rank(question) == []


def test_scores_are_the_sums_of_reciprocal_ranks() -> None:
    fused = fuse_rankings([(1.0, ["a", "b", "c"]), (1.0, ["c", "a"])])
    assert fused == {
        "a": pytest.approx(1 / 61 + 1 / 62),
        "c": pytest.approx(1 / 63 + 1 / 61),
        "b": pytest.approx(1 / 62),
    }
    assert list(fused) == ["a", "c", "b"]


def test_related_words_are_apart_and_never_the_question_s_own() -> None:
    words = read_words("Which clients bought from customers?")
    assert words.own == ("client", "bought", "customer")
    assert "buyer" in words.related
    assert not set(words.own) & set(words.related)


@pytest.mark.parametrize(
    ("draft", "tables"),
    [
        ("SELECT id FROM orders", ("sales.orders",)),
        ("SELECT 1 FROM stock.products AS p JOIN orders o ON o.id = p.id",
         ("stock.products", "sales.orders")),
        ("WITH x AS (SELECT 1 FROM returns) SELECT * FROM x", ("stock.returns",)),
        ("SELECT 1 FROM invented", ()),
        ("this is no SQL (", ()),
        ("", ()),
    ],
)  # fmt: skip
def test_tables_that_exist_are_found(draft: str, tables: tuple[str, ...]) -> None:
    assert set(read_draft(draft, SHOP).tables) == set(tables)


def test_columns_are_words_to_search_for() -> None:
    words = read_draft("SELECT reason FROM returns WHERE line_no > 1", SHOP).words.split()
    assert set(words) == {"returns", "reason", "line_no"}
