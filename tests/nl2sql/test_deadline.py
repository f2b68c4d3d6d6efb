"""What a deadline ends, and what it lets go on; the time of a request."""

from __future__ import annotations

import asyncio

import pytest

from nl2sql.deadline import Deadline, ending_in, read_left_s
from nl2sql.errors import DeadlineExceeded

PASSED = Deadline(0.0)


async def test_work_ends_with_the_time_of_its_request() -> None:
    with pytest.raises(DeadlineExceeded):
        async with ending_in(0.01):
            await asyncio.sleep(60)


async def test_without_time_left_nothing_begins() -> None:
    begun = False
    with pytest.raises(DeadlineExceeded):
        async with ending_in(0.0):
            begun = True
    assert not begun

    async def work() -> None:
        await asyncio.sleep(0.02)
        with pytest.raises(DeadlineExceeded):
            read_left_s()

    async with ending_in(0.01):
        # Not cancelled with the block, but with its time.
        task = asyncio.create_task(work())
    await task
