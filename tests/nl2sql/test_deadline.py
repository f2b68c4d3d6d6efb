"""What a deadline ends, and what it lets go on."""

from __future__ import annotations

import asyncio

import pytest

from nl2sql.deadline import NEVER, Deadline

PASSED = Deadline(0.0)


async def give(value: str, seconds: float = 0.0) -> str:
    await asyncio.sleep(seconds)
    return value


def test_what_is_left() -> None:
    assert NEVER.left_s is None
    assert not NEVER.has_passed
    assert PASSED.left_s == 0
    assert PASSED.has_passed
    left_s = Deadline.after(60).left_s
    assert left_s is not None
    assert 59 < left_s <= 60


@pytest.mark.parametrize("seconds", [None, 60.0])
async def test_before_it_all_are_waited_for(seconds: float | None) -> None:
    deadline = Deadline.after(seconds)
    works = [give("a", 0.02), give("b")]
    assert await deadline.gather(works, bool) == ["a", "b"]


async def test_after_it_the_first_that_is_enough_ends_the_others() -> None:
    works = [give("", 0.01), give("a", 0.02), give("b", 60)]
    assert await PASSED.gather(works, bool) == ["", "a", None]


async def test_where_there_is_enough_already_nothing_is_waited_for() -> None:
    assert await PASSED.gather([give("a", 60)], bool, has_enough=True) == [None]


async def test_without_enough_the_last_one_is_waited_for() -> None:
    assert await PASSED.gather([give("", 0.01), give("", 0.02)], bool) == ["", ""]


async def test_what_one_raises_ends_the_others() -> None:
    ended = asyncio.Event()

    async def hang() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return ""

    async def fail() -> str:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await NEVER.gather([hang(), fail()], bool)
    assert ended.is_set()
