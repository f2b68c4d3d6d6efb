"""Keyword scores, and what is first among them."""

from __future__ import annotations

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from nl2sql.words import content_words
from retrieval.index_store.cards import build_cards
from retrieval.search.keywords import KeywordIndex, rank_scores
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


@pytest.mark.parametrize("b", [0.0, 0.3, 0.75, 1.0])
def test_the_scores_are_those_of_rank_bm25_but_for_the_weight_of_a_word(b: float) -> None:
    """rank-bm25 weighs a word by log((N - n + 0.5) / (n + 0.5)), which is negative for a word of
    most documents; Lucene adds 1 inside the logarithm and leaves out the factor k1 + 1."""
    random = np.random.default_rng(5)
    words = [f"w{number}" for number in range(40)]
    documents = [
        [words[int(at)] for at in random.zipf(1.4, size=random.integers(1, 60)) if at < len(words)]
        for _ in range(300)
    ]
    peer = BM25Okapi(documents, k1=1.5, b=b)
    ours = KeywordIndex(documents, b=b)
    compared = []
    for word in {word for document in documents for word in document}:
        held = sum(word in document for document in documents)
        if peer.idf[word] <= 0 or held > len(documents) / 2:
            continue  # rank-bm25 replaces these weights by a share of the mean one
        lucene = np.log(1 + (len(documents) - held + 0.5) / (held + 0.5))
        shares = peer.get_scores([word]) / (peer.idf[word] * (1.5 + 1))
        assert ours.score([word]) / lucene == pytest.approx(shares, rel=1e-4, abs=1e-6)
        compared.append(word)
    assert len(compared) > 20
    pair = words[5:7]
    assert ours.score(pair) == pytest.approx(sum(ours.score([word]) for word in pair), rel=1e-5)
