"""How many requests are worked on at a time."""

from __future__ import annotations

import asyncio

import pytest

from nl2sql.errors import Unavailable
from serve_app.service.turns import Turns


async def test_more_than_may_work_wait_in_order_and_more_than_may_wait_are_refused() -> None:
    turns = Turns(2, 1)
    go, order = asyncio.Event(), []

    async def work(name: str) -> None:
        async with turns.take():
            order.append(name)
            await go.wait()

    tasks = [asyncio.create_task(work(name)) for name in "abc"]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert order == ["a", "b"]
    with pytest.raises(Unavailable, match="waiting already"):
        await work("d")
    go.set()
    await asyncio.gather(*tasks)
    assert order == ["a", "b", "c"]
    await work("e")


async def test_who_stops_waiting_leaves_the_place_to_others() -> None:
    turns = Turns(1, 1)
    async with turns.take():
        waiting = asyncio.create_task(turns.take().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        again = asyncio.create_task(turns.take().__aenter__())
        await asyncio.sleep(0)
        assert not again.done()
    await asyncio.wait_for(again, timeout=5)
