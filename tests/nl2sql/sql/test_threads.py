"""Reading beside the event loop."""

from __future__ import annotations

import asyncio
import threading

import pytest

from nl2sql.sql.threads import run_in_parser_thread


async def test_it_runs_in_another_thread_and_returns_what_was_read() -> None:
    here = threading.get_ident()
    assert await run_in_parser_thread(threading.get_ident) != here
    assert await run_in_parser_thread(sorted, [3, 1, 2], reverse=True) == [3, 2, 1]


async def test_one_text_is_read_at_a_time_and_the_event_loop_goes_on() -> None:
    entered, leave = threading.Event(), threading.Event()
    order: list[str] = []

    def wait() -> None:
        entered.set()
        leave.wait()
        order.append("first")

    first = asyncio.create_task(run_in_parser_thread(wait))
    second = asyncio.create_task(run_in_parser_thread(order.append, "second"))
    await asyncio.to_thread(entered.wait)
    assert order == []
    leave.set()
    await asyncio.gather(first, second)
    assert order == ["first", "second"]


async def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    entered, leave = threading.Event(), threading.Event()
    order: list[str] = []

    def wait() -> None:
        entered.set()
        leave.wait()

    first = asyncio.create_task(run_in_parser_thread(wait))
    await asyncio.to_thread(entered.wait)
    second = asyncio.create_task(run_in_parser_thread(order.append, "second"))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    leave.set()
    await first
    await run_in_parser_thread(order.append, "third")
    assert order == ["third"]
