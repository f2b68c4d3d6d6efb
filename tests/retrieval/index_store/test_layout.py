"""The index is set up once, by whoever comes first; other layouts are migrated or refused."""

from __future__ import annotations

import asyncio

import pytest

from nl2sql.errors import IndexUnavailable
from retrieval.index_store.layout import read_steps
from retrieval.index_store.store import IndexStore
from tests.retrieval.index_store.conftest import execute

OLDEST, NEWEST = min(read_steps()), max(read_steps())


def read_layout(url: str) -> list[tuple[object, ...]]:
    return execute(url, "SELECT version FROM quorumsql.layout")


async def test_several_set_an_index_up_at_once(index_url: str) -> None:
    stores = [IndexStore(index_url, pool_size=1) for _ in range(6)]
    await asyncio.gather(*(store.prepare() for store in stores))
    await asyncio.gather(*(store.heads() for store in stores))
    await asyncio.gather(*(store.close() for store in stores))
    assert read_layout(index_url) == [(NEWEST,)]


@pytest.mark.parametrize(
    ("layout", "said", "probed"),
    [
        (NEWEST + 1, f"layout {NEWEST + 1}, made by a newer version", "made by a newer version"),
        (OLDEST - 1, f"layout {OLDEST - 1}; layouts before {OLDEST}", "cannot be brought to it"),
    ],
    ids=["newer", "before_the_first"],
)
async def test_a_layout_that_cannot_be_used_is_refused_and_left_alone(
    store: IndexStore, index_url: str, layout: int, said: str, probed: str
) -> None:
    execute(index_url, f"UPDATE quorumsql.layout SET version = {layout}")
    for attempt in (store.prepare(), store.heads()):
        with pytest.raises(IndexUnavailable, match=said) as caught:
            await attempt
        assert "\n" not in caught.value.message
    assert probed in dict(await store.probe())["index"]
    assert read_layout(index_url) == [(layout,)]


async def test_an_index_of_any_layout_can_be_dropped(index_url: str) -> None:
    execute(
        index_url,
        "CREATE SCHEMA quorumsql; CREATE TABLE quorumsql.layout AS SELECT 999 AS version",
    )
    store = IndexStore(index_url)
    await store.drop_everything()
    assert "set up" in (await store.probe())[0][1]
    with pytest.raises(IndexUnavailable, match="not been set up"):
        await store.head("shop")
    await store.prepare()
    assert await store.heads() == []
    await store.close()
