"""How names and questions are cut into words."""

from __future__ import annotations

import pytest

from nl2sql.words import content_words, fold_plural, split_words
from tests.golden import load_changes


@pytest.mark.parametrize(
    ("text", "words"),
    [*load_changes("words", "names"), *((text, "") for text in ("🙂", "", "..."))],
)
def test_a_name_is_cut_at_case_digits_and_signs(text: str, words: str) -> None:
    assert split_words(text) == words.split()


@pytest.mark.parametrize(("word", "singular"), load_changes("words", "plurals"))
def test_regular_plurals_are_folded(word: str, singular: str) -> None:
    assert fold_plural(word) == singular


def test_function_words_are_dropped() -> None:
    assert content_words("How many of the orders were cancelled?") == ["order", "cancelled"]
    assert content_words("What is it?") == []
