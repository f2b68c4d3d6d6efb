"""Waits for what happens in another process, and ends what is waited for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> bool:
    """Whether it becomes true in that time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


async def cancel(task: asyncio.Task[Any]) -> None:
    """Cancels the task, which ends by that."""
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
