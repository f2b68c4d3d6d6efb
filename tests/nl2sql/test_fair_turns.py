"""Whose turn it is."""

from __future__ import annotations

import asyncio

import pytest

from nl2sql.fair_turns import FairTurns, find_share


async def test_a_part_of_the_turns_is_never_given_to_one_principal() -> None:
    for most in range(2, 12):
        turns = FairTurns(most)
        greedy = [asyncio.create_task(turns.take("greedy")) for _ in range(3 * most)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert sum(task.done() for task in greedy) == find_share(most) < most
        # It waits for nobody, and the greedy one does not get its place afterwards.
        for _ in range(3):
            async with asyncio.timeout(60), turns.hold("polite"):
                assert not turns.may_take("greedy")
        for task in greedy:
            task.cancel()
        await asyncio.wait(greedy)


async def test_those_who_wait_are_called_in_turn_whatever_they_are_called() -> None:
    turns, order = FairTurns(4), list[str]()

    async def work(who: str) -> None:
        async with turns.hold(who):
            order.append(who)
            await asyncio.sleep(0)

    for who in ("x", "y", "z", "w"):
        await turns.take(who)
    # The service's own statements have the empty name.
    waiting = [asyncio.create_task(work(who)) for who in ["a"] * 20 + [""] * 3 + ["b"] * 3]
    await asyncio.sleep(0.01)
    assert not order
    turns.give_back("x")
    await asyncio.gather(*waiting)
    assert order[:9] == ["a", "", "b"] * 3
    assert turns.waiting == 0


@pytest.mark.parametrize("most", [1, 2, 8])
async def test_whenever_those_who_wait_leave_no_turn_is_lost(most: int) -> None:
    turns = FairTurns(most)

    async def work(who: str, ticks: int) -> None:
        async with turns.hold(who):
            for _ in range(ticks):
                await asyncio.sleep(0)

    for leaving in range(60):
        tasks = [asyncio.create_task(work("abc"[at % 3], at % 5)) for at in range(24)]
        for _ in range(leaving % 12):
            await asyncio.sleep(0)
        for task in tasks[leaving % 2 :: 2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert turns.waiting == 0
        assert all(turns.may_take(who) for who in "abc")
        async with asyncio.timeout(60):
            await turns.wait_until_idle()
