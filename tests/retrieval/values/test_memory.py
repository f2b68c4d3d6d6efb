"""Values in memory follow what a refresh publishes."""

from __future__ import annotations

import asyncio

import pytest

from nl2sql.errors import IndexUnavailable
from retrieval.index_store.value_store import ValueColumn, ValueStore
from retrieval.values.dictionary import ValueMemory
from tests.fakes import FakeIndexStore


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
    dictionary = await memory.dictionary("shop")
    assert dictionary is not None
    return [value for values in dictionary.enumerations.values() for value in values]


async def test_many_questions_at_once_load_once() -> None:
    store = FakeValueStore()
    memory = ValueMemory(store, ["shop"])
    assert await asyncio.gather(*(held(memory) for _ in range(5))) == [["first"]] * 5
    assert store.loads == 1


async def test_a_new_version_is_made_ready_in_the_background() -> None:
    store = FakeValueStore()
    memory = ValueMemory(store, ["shop"], fresh_s=0.0)
    await held(memory)
    store.current = "second"
    assert await held(memory) == ["first"]
    for _ in range(500):
        if await held(memory) == ["second"]:
            break
        await asyncio.sleep(0.01)
    assert await held(memory) == ["second"]
    assert store.loads == 2


async def test_what_is_in_memory_outlives_the_index() -> None:
    store = FakeValueStore()
    memory = ValueMemory(store, ["shop"], fresh_s=0.0)
    await held(memory)
    store.down = True
    assert await held(memory) == ["first"]
    with pytest.raises(IndexUnavailable):
        await ValueMemory(store, ["shop"]).dictionary("shop")
