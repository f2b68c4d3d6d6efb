"""The threads for statements of engines in this process, with a statement that only a stop ends."""

from __future__ import annotations

import asyncio
import threading

import pytest

from execution.statement_threads import Statement, StatementThreads
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, GuardedQuery

# So long the statement would go on.
LONGEST_S = 5.0


class Waiting(Statement[str]):
    """Waits for its interruption."""

    ended = ""

    def run(self) -> str:
        """See ``Statement``."""
        asked = threading.Event()
        with self.stoppable(asked.set):
            self.ended = "stopped" if asked.wait(LONGEST_S) else "by itself"
        return self.ended


def build(timeout_ms: int) -> Waiting:
    return Waiting(
        GuardedQuery("shop", "SELECT 1", ()), LimitSettings(statement_timeout_ms=timeout_ms)
    )


async def test_what_nobody_waits_for_is_stopped() -> None:
    threads, late, left, closed = StatementThreads("shop", 3), build(100), build(9000), build(9000)
    assert isinstance(await threads.run(lambda: late, who="ann"), Diagnostic)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await threads.run(lambda: left, who="bob")
    await asyncio.sleep(LONGEST_S / 5)
    assert (late.ended, left.ended) == ("stopped", "stopped")
    running = asyncio.create_task(threads.run(lambda: closed, who="eve"))
    await asyncio.sleep(0.1)
    await threads.close()
    assert await running == "stopped"
