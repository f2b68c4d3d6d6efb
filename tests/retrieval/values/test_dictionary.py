"""Values by phrase: the same words, similar ones, and beginnings."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from retrieval.index_store.value_store import ValueColumn
from retrieval.values.dictionary import ALIAS_SCORE, Hit, ValueDictionary

COUNTRIES = ValueColumn(
    "crm.customers",
    "country",
    ("Germany", "France", "Côte d'Ivoire", "United States"),
    {"german": "Germany", "the states": "United States"},
)
ITEMS = ValueColumn(
    "stock.items",
    "name",
    ("iPhone 12", "iPhone 13", "Acme Anvil", "Acme Rocket Skates", "Acme Glue", "Acme Bird Seed"),
)
DICTIONARY = ValueDictionary([COUNTRIES, ITEMS])


def found(hits: Sequence[Hit]) -> list[str]:
    return [hit.value for hit in hits]


@pytest.mark.parametrize(
    ("folded", "value"),
    [("germany", "Germany"), ("cote d ivoire", "Côte d'Ivoire"), ("united state", "United States")],
)
def test_the_same_words_are_found_whatever_their_spelling(folded: str, value: str) -> None:
    assert [(hit.value, hit.score) for hit in DICTIONARY.find_exact(folded)] == [(value, 1.0)]


def test_an_alias_finds_the_value_as_it_is_stored() -> None:
    (hit,) = DICTIONARY.find_exact("german")
    assert (hit.column, hit.value, hit.score) == (COUNTRIES, "Germany", ALIAS_SCORE)


@pytest.mark.parametrize(
    ("typed", "value"),
    [
        ("germny", "Germany"),
        ("frnace", ""),
        ("unitedstates", "United States"),
        ("gremany", "Germany"),
    ],
)
def test_a_typing_error_is_forgiven_when_most_letters_are_right(typed: str, value: str) -> None:
    assert found(DICTIONARY.find_similar(typed)) == ([value] if value else [])


def test_other_digits_are_another_thing() -> None:
    assert found(DICTIONARY.find_similar("iphone12")) == ["iPhone 12"]
    assert DICTIONARY.find_similar("iphone 14") == []


def test_a_beginning_is_told_only_where_few_values_have_it() -> None:
    assert found(DICTIONARY.find_beginnings("acme rocket", lambda _: True)) == [
        "Acme Rocket Skates"
    ]
    assert DICTIONARY.find_beginnings("acme", lambda _: True) == []
    assert DICTIONARY.find_beginnings("acme rocket", lambda _: False) == []
