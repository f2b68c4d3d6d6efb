"""Work side by side, which fails together, and work that several callers share."""

from __future__ import annotations

import asyncio

import pytest

from nl2sql.concurrency import SingleFlight, gather_all
from nl2sql.errors import Unavailable


class Work:
    """Waits until it may finish; counts its runs."""

    def __init__(self) -> None:
        self.runs = 0
        self.cancelled = 0
        self.go = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> int:
        self.runs += 1
        run = self.runs
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        return run


async def start(shared: SingleFlight[int], work: Work, *keys: str) -> list[asyncio.Task[int]]:
    tasks = [asyncio.create_task(shared.run(key, work)) for key in keys]
    await asyncio.sleep(0.01)
    return tasks


async def test_all_who_come_meanwhile_get_one_result() -> None:
    shared, work = SingleFlight[int](), Work()
    tasks = await start(shared, work, "a", "a", "b", "a")
    work.go.set()
    assert await asyncio.gather(*tasks) == [1, 1, 2, 1]
    assert await shared.run("a", work) == 3


async def test_all_who_come_meanwhile_get_the_error_at_once() -> None:
    shared, work = SingleFlight[int](), Work()
    tasks = await start(shared, work, "a", "a", "a")
    work.error = ValueError("no")
    work.go.set()
    errors = await asyncio.gather(*tasks, return_exceptions=True)
    assert [str(error) for error in errors] == ["no"] * 3
    assert work.runs == 1


async def test_the_work_goes_on_while_one_caller_is_left() -> None:
    shared, work = SingleFlight[int](), Work()
    first, second = await start(shared, work, "a", "a")
    first.cancel()
    await asyncio.wait({first})
    assert (first.cancelled(), work.cancelled) == (True, 0)
    work.go.set()
    assert await second == 1


async def test_the_work_ends_with_its_last_caller() -> None:
    shared, work = SingleFlight[int](), Work()
    tasks = await start(shared, work, "a", "a")
    for task in tasks:
        task.cancel()
    # It ends after its callers; one who comes now gets work that is not cancelled.
    await asyncio.sleep(0)
    (later,) = await start(shared, work, "a")
    assert (work.runs, work.cancelled) == (2, 1)
    work.go.set()
    assert await later == 2
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]


async def wait(ended: list[bool]) -> None:
    try:
        await asyncio.sleep(60)
    finally:
        ended.append(True)


async def test_the_first_failure_is_raised_as_it_is_and_ends_the_others() -> None:
    ended: list[bool] = []

    async def fail() -> None:
        await asyncio.sleep(0)
        raise Unavailable("gone")

    with pytest.raises(Unavailable, match="gone") as raised:
        await gather_all([wait(ended), fail(), wait(ended)])
    assert ended == [True, True]
    # Not chained to the group, whose traceback would repeat it.
    assert raised.value.__cause__ is None
