"""Values by phrase: the same words, similar ones, and beginnings."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from nl2sql.errors import IndexUnavailable
from retrieval.index_store.value_store import ValueColumn, ValueStore
from retrieval.values.dictionary import ALIAS_SCORE, FoundValue, ValueDictionary, ValueMemory
from retrieval.values.phrases import ValuePhrase
from tests.fakes import FakeIndexStore

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


def say(text: str) -> ValuePhrase:
    return ValuePhrase(text, text, 0, len(text))


def found(hits: Sequence[FoundValue]) -> list[str]:
    return [hit.value for hit in hits]


@pytest.mark.parametrize(
    ("folded", "value"),
    [("germany", "Germany"), ("cote d ivoire", "Côte d'Ivoire"), ("united state", "United States")],
)
def test_the_same_words_are_found_whatever_their_spelling(folded: str, value: str) -> None:
    assert [(hit.value, hit.score) for hit in DICTIONARY.find_exact(say(folded))] == [(value, 1.0)]


def test_an_alias_finds_the_value_as_it_is_stored() -> None:
    (hit,) = DICTIONARY.find_exact(say("german"))
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
    assert found(DICTIONARY.find_similar(say(typed))) == ([value] if value else [])


def test_other_digits_are_another_thing() -> None:
    assert found(DICTIONARY.find_similar(say("iphone12"))) == ["iPhone 12"]
    assert DICTIONARY.find_similar(say("iphone 14")) == []


def test_a_beginning_is_told_only_where_few_values_have_it() -> None:
    assert found(DICTIONARY.find_beginnings(say("acme rocket"), lambda _: True)) == [
        "Acme Rocket Skates"
    ]
    assert DICTIONARY.find_beginnings(say("acme"), lambda _: True) == []
    assert DICTIONARY.find_beginnings(say("acme rocket"), lambda _: False) == []


class FakeValueStore(ValueStore):
    """One column whose only value is the version; ``down`` makes it fail."""

    def __init__(self) -> None:
        super().__init__(FakeIndexStore())
        self.current = "first"
        self.down = False
        self.loads = 0

    async def version(self, database: str) -> str:
        if self.down:
            raise IndexUnavailable("it is down")
        return self.current

    async def load(self, database: str, most: int) -> list[ValueColumn]:
        self.loads += 1
        return [ValueColumn("s.t", "c", (self.current,))]


async def held(memory: ValueMemory) -> list[str]:
    return list((await memory.dictionary("shop")).values_of("s.t.c"))


async def test_a_new_version_is_loaded_once_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.values.dictionary._FRESH_S", 0.0)
    store = FakeValueStore()
    memory = ValueMemory(store)
    await held(memory)
    store.current = "second"
    one, other = await asyncio.gather(held(memory), held(memory))
    assert one == other == ["second"]
    assert store.loads == 2


async def test_what_is_in_memory_outlives_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval.values.dictionary._FRESH_S", 0.0)
    store = FakeValueStore()
    memory = ValueMemory(store)
    await held(memory)
    store.down = True
    assert await held(memory) == ["first"]
    with pytest.raises(IndexUnavailable):
        await ValueMemory(store).dictionary("shop")
