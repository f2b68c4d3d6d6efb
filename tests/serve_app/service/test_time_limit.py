"""Requests end in time, whatever their work does."""

from __future__ import annotations

import asyncio

import pytest

from serve_app.service import time_limit
from serve_app.service.time_limit import run_within


class Stubborn:
    """Work that goes on for a while after it is cancelled."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()

    async def work(self) -> int:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.2)
            self.ended.set()
            raise
        return 1


async def test_what_ends_in_time_gives_its_result_or_its_error() -> None:
    async def answer() -> int:
        return 1

    async def fail() -> int:
        raise ValueError("no")

    assert await run_within(5, answer()) == 1
    with pytest.raises(ValueError, match="no"):
        await run_within(5, fail())


@pytest.mark.parametrize("is_cancelled", [False, True], ids=["too late", "cancelled"])
async def test_nobody_waits_for_work_that_does_not_end(
    monkeypatch: pytest.MonkeyPatch, is_cancelled: bool
) -> None:
    monkeypatch.setattr(time_limit, "_ENDING_S", 0.01)
    stubborn = Stubborn()
    caller = asyncio.create_task(run_within(60 if is_cancelled else 0.01, stubborn.work()))
    if is_cancelled:
        await asyncio.sleep(0.01)
        caller.cancel()
    await asyncio.wait({caller})
    assert caller.cancelled() if is_cancelled else isinstance(caller.exception(), TimeoutError)
    assert not stubborn.ended.is_set()
    async with asyncio.timeout(5):
        await stubborn.ended.wait()
