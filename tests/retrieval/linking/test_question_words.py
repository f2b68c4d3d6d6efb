"""How a question is read, and what in it is spelled otherwise than the schema."""

from __future__ import annotations

import pytest

from retrieval.linking.words import Near, read_question


@pytest.mark.parametrize(
    ("question", "vocabulary", "found"),
    [
        ("custmer list", ["customer"], {"customer": Near("custmer", 0.875, "fuzzy")}),
        ("which air ports", ["airport"], {"airport": Near("air ports", 1.0, "name")}),
        ("cancelled ones", ["cancel"], {"cancel": Near("cancelled", 0.9, "fuzzy")}),
        ("clients", ["customer"], {"customer": Near("clients", 0.8, "synonym")}),
        ("clients", ["client", "customer"], {}),
        ("departments", ["department"], {}),
        ("state", ["date", "stage"], {}),
        ("custmer", ["bustmer"], {}),
        ("source", ["course"], {}),
    ],
    ids=[
        "typo",
        "two_words",
        "form",
        "synonym",
        "own_word",
        "known",
        "short",
        "first_letter",
        "far",
    ],
)
def test_words_near_to_a_name(question: str, vocabulary: list[str], found: dict[str, Near]) -> None:
    assert read_question(question).find_near(vocabulary) == found


def test_possessives_and_function_words_are_no_content() -> None:
    assert list(read_question("What is the customer's name?").words) == ["customer", "name"]
