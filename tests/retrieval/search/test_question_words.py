"""The words that keyword search looks for."""

from __future__ import annotations

from retrieval.search.keywords import read_words


def test_related_words_are_apart_and_never_the_question_s_own() -> None:
    words = read_words("Which clients bought from customers?")
    assert words.own == ("client", "bought", "customer")
    assert "buyer" in words.related
    assert not set(words.own) & set(words.related)


def test_all_texts_count_each_word_once() -> None:
    assert read_words("orders", "orders total").own == ("order", "total")
    assert read_words("").own == ()
