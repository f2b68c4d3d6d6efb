"""The phrases of a question that are looked up."""

from __future__ import annotations

import pytest

from retrieval.values.phrases import find_phrases


def texts(question: str) -> set[str]:
    return {phrase.text for phrase in find_phrases(question)}


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("rows with 'to be'", "to be"),
        ('rows with "42"', "42"),
        ("rows with “Größe”", "Größe"),
        ("the customers' orders of 'X'", "X"),
    ],
)
def test_what_is_quoted_is_a_phrase_whatever_it_is(question: str, quoted: str) -> None:
    assert [phrase.text for phrase in find_phrases(question) if phrase.quoted] == [quoted]


def test_words_of_asking_and_numbers_do_not_stand_alone() -> None:
    assert texts("How many of them are there in total, 2024 or 3?") == set()
    assert "Boeing 747" in texts("flights of a Boeing 747")


def test_function_words_are_those_of_the_questions_language() -> None:
    found = find_phrases("Wie viele Lieferanten haben wir pro Land?")
    assert "pro" not in {phrase.text for phrase in found}
    assert [phrase.text for phrase in found if not phrase.exact_only] == ["Lieferanten", "Land"]


def test_capitals_are_codes_but_not_in_a_shouted_question() -> None:
    assert [p.text for p in find_phrases("sold in the US") if p.exact_case] == ["US"]
    assert [p.text for p in find_phrases("SOLD IN THE US") if p.exact_case] == []
