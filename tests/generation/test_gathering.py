"""What a deadline ends, and what it lets go on."""

from __future__ import annotations

import asyncio

import pytest

from generation.gathering import gather_until
from nl2sql.deadline import NEVER, Deadline
from nl2sql.errors import EngineUnavailable

PASSED = Deadline(0.0)


async def give(value: str, seconds: float = 0.0) -> str:
    await asyncio.sleep(seconds)
    return value


@pytest.mark.parametrize(
    ("deadline", "works", "has_enough", "expected"),
    [
        pytest.param(NEVER, [("a", 0.02), ("b", 0)], False, ["a", "b"], id="never"),
        pytest.param(Deadline.after(1e6), [("a", 0.02), ("b", 0)], False, ["a", "b"], id="before"),
        # After it the first that is enough ends the others.
        pytest.param(
            PASSED, [("", 0.01), ("a", 0.02), ("b", 60)], False, ["", "a", None], id="after"
        ),
        pytest.param(PASSED, [("a", 60)], True, [None], id="enough_already"),
        pytest.param(PASSED, [("", 0.01), ("", 0.02)], False, ["", ""], id="none_is_enough"),
    ],
)
async def test_what_is_waited_for(
    deadline: Deadline,
    works: list[tuple[str, float]],
    has_enough: bool,
    expected: list[str | None],
) -> None:
    running = [give(value, seconds) for value, seconds in works]
    assert await gather_until(deadline, running, bool, has_enough=has_enough) == expected


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
        await gather_until(NEVER, [hang(), fail()], bool)
    assert ended.is_set()


async def refuse() -> str:
    raise EngineUnavailable("busy")


@pytest.mark.parametrize("deadline", [NEVER, PASSED, Deadline.after(60)])
@pytest.mark.parametrize("failing", [(0,), (1, 2), (0, 1, 3)], ids=len)
async def test_what_some_brought_is_kept_when_others_fail(
    deadline: Deadline, failing: tuple[int, ...]
) -> None:
    works = [refuse() if at in failing else give(str(at)) for at in range(4)]
    found = await gather_until(deadline, works, bool)
    assert found == [None if at in failing else str(at) for at in range(4)]
