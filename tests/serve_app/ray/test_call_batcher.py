"""Calls that begin at the same moment are sent at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from serve_app.ray.call_batcher import BatchedCall, CallBatcher


class Sender:
    """Doubles numbers; refuses 13, and is cut off at 99."""

    def __init__(self) -> None:
        self.sent: list[list[Any]] = []
        self.cancelled = 0
        self.begun = asyncio.Event()
        self.going = asyncio.Event()
        self.going.set()

    async def send(self, method: str, calls: tuple[BatchedCall, ...]) -> Sequence[Any]:
        numbers = [call.arguments[0] for call in calls]
        self.sent.append(numbers)
        self.begun.set()
        if 99 in numbers:
            raise ConnectionError("cut off")
        try:
            await self.going.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return [ValueError("13") if number == 13 else 2 * number for number in numbers]


def start(together: CallBatcher, number: int) -> asyncio.Task[Any]:
    return asyncio.create_task(together.call("double", BatchedCall((number,))))


async def test_each_caller_gets_its_own_result() -> None:
    sender = Sender()
    together = CallBatcher(sender.send)
    results = await asyncio.gather(
        *(start(together, number) for number in (1, 13, 3)), return_exceptions=True
    )
    assert [results[0], results[2]] == [2, 6]
    assert isinstance(results[1], ValueError)
    assert sender.sent == [[1, 13, 3]]
    assert await start(together, 4) == 8
    assert sender.sent == [[1, 13, 3], [4]]
    # An error of sending reaches all.
    results = await asyncio.gather(
        *(start(together, number) for number in (1, 99)), return_exceptions=True
    )
    assert [type(result) for result in results] == [ConnectionError, ConnectionError]


@pytest.mark.parametrize(("leaving", "cancelled"), [(1, 0), (2, 1)])
async def test_it_is_cancelled_when_nobody_waits_any_more(leaving: int, cancelled: int) -> None:
    sender = Sender()
    sender.going.clear()
    together = CallBatcher(sender.send)
    tasks = [start(together, number) for number in (1, 2)]
    await sender.begun.wait()
    for task in tasks[:leaving]:
        task.cancel()
    await asyncio.sleep(0.01)
    assert sender.cancelled == cancelled
    sender.going.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert results[leaving:] == [4][: 2 - leaving]
