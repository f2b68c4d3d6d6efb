"""Reading beside the event loop."""

from __future__ import annotations

import asyncio
import threading

from nl2sql.sql.threads import run_in_parser_thread
from tests.waiting import cancel


async def test_it_runs_in_another_thread_and_returns_what_was_read() -> None:
    here = threading.get_ident()
    assert await run_in_parser_thread(threading.get_ident) != here
    assert await run_in_parser_thread(sorted, [3, 1, 2], reverse=True) == [3, 2, 1]


class Reading:
    """A reading that goes on until ``leave`` is set; ``order`` are the texts that were read."""

    def __init__(self) -> None:
        self.entered, self.leave = threading.Event(), threading.Event()
        self.order: list[str] = []

    def read(self, text: str) -> None:
        """Reads it at once, but the first one."""
        if text == "first":
            self.entered.set()
            self.leave.wait()
        self.order.append(text)

    async def start(self, text: str) -> asyncio.Task[None]:
        task = asyncio.create_task(run_in_parser_thread(self.read, text))
        await asyncio.sleep(0)
        await asyncio.to_thread(self.entered.wait)
        return task


async def test_one_text_is_read_at_a_time_and_the_event_loop_goes_on() -> None:
    reading = Reading()
    tasks = [await reading.start(text) for text in ("first", "second")]
    assert reading.order == []
    reading.leave.set()
    await asyncio.gather(*tasks)
    assert reading.order == ["first", "second"]


async def test_what_nobody_waits_for_any_more_is_not_begun() -> None:
    reading = Reading()
    first = await reading.start("first")
    await cancel(await reading.start("second"))
    reading.leave.set()
    await first
    await run_in_parser_thread(reading.read, "third")
    assert reading.order == ["first", "third"]
