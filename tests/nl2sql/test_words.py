"""How names and questions are cut into words."""

from __future__ import annotations

import pytest

from nl2sql.words import content_words, fold_plural, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cust_no", ["cust", "no"]),
        ("OrderLineTotals", ["order", "line", "total"]),
        ("HTTPServer", ["http", "server"]),
        ("orderID", ["order", "id"]),
        ("address2", ["address", "2"]),
        ("order-lines of 2024", ["order", "line", "of", "2024"]),
        ("prénomÉlève_2", ["prenom", "eleve", "2"]),
        ("ÜBERSICHTListe", ["ubersicht", "liste"]),
        ("КодЗаказа", ["код", "заказа"]),
        ("訂單 2", ["訂", "單", "2"]),
        ("\uff37idth", ["width"]),
        ("🙂", []),
        ("", []),
        ("...", []),
    ],
)
def test_a_name_is_cut_at_case_digits_and_signs(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("word", "singular"),
    [
        ("orders", "order"),
        ("companies", "company"),
        ("boxes", "box"),
        ("branches", "branch"),
        ("classes", "class"),
        ("address", "address"),
        ("status", "status"),
        ("analysis", "analysis"),
        ("gas", "gas"),
        ("series", "sery"),
    ],
)
def test_regular_plurals_are_folded(word: str, singular: str) -> None:
    assert fold_plural(word) == singular


def test_function_words_are_dropped() -> None:
    assert content_words("How many of the orders were cancelled?") == ["order", "cancelled"]
    assert content_words("What is it?") == []
