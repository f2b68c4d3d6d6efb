"""Ends a request in time, even if its work does not end when it is cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

_T = TypeVar("_T")

# A driver may wait seconds for a silent server before it lets go of a cancelled statement.
_ENDING_S = 0.5


async def run_within(seconds: float, work: Coroutine[Any, Any, _T]) -> _T:
    """The result of ``work``. Raises what it raises, or TimeoutError after that time.

    When the time is over or the caller is cancelled, the work is cancelled; if it has not ended
    half a second later, it goes on ending without the caller.
    """
    task = asyncio.create_task(work)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if done:
            return task.result()
        raise TimeoutError
    finally:
        if not task.done():
            task.cancel()
            task.add_done_callback(_retrieve)
            await asyncio.wait({task}, timeout=_ENDING_S)


def _retrieve(task: asyncio.Task[Any]) -> None:
    """Marks the outcome as seen: nobody waits for it."""
    if not task.cancelled():
        task.exception()
