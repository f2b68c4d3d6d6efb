"""Coroutines side by side: the first that fails ends the others, and its own error is raised.

``asyncio.gather`` leaves the others running, and ``asyncio.TaskGroup`` raises a group of errors,
which no caller here expects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """A task group that raises the first error of its tasks instead of a group of errors."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from failed.exceptions[0].__cause__


async def gather_all(works: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """What each returns, in order."""
    async with task_group() as group:
        tasks = [group.create_task(work) for work in works]
    return [task.result() for task in tasks]
