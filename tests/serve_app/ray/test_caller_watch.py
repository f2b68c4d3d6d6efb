"""Work ends with the actor that waits for it."""

from __future__ import annotations

import asyncio

import pytest

from serve_app.ray.caller_watch import CallerWatch


async def test_work_of_a_dead_caller_is_cancelled_and_that_of_others_is_not() -> None:
    dead = {"dead"}
    watch = CallerWatch(lambda name: name not in dead, period_s=0.001)
    going_on = asyncio.Event()

    async def work() -> str:
        await going_on.wait()
        return "done"

    lost, kept, unnamed = (
        asyncio.create_task(watch.run(caller, work())) for caller in ("dead", "alive", "")
    )
    with pytest.raises(asyncio.CancelledError):
        await lost
    going_on.set()
    assert [await kept, await unnamed] == ["done", "done"]


async def test_a_cancelled_call_cancels_its_work() -> None:
    watch = CallerWatch(lambda name: True, period_s=0.001)
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    call = asyncio.create_task(watch.run("alive", work()))
    await asyncio.sleep(0.01)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert ended.is_set()
