"""Runs coroutines concurrently: the first failure cancels the others and is raised itself.

``asyncio.gather`` would leave the others running, and ``asyncio.TaskGroup`` would raise an
exception group, which no caller here expects.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """A task group that raises the first error of its tasks instead of an exception group."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from failed.exceptions[0].__cause__


async def gather_all(coroutines: Iterable[Coroutine[Any, Any, _T]]) -> list[_T]:
    """Runs the coroutines concurrently and returns their results in order."""
    async with task_group() as group:
        tasks = [group.create_task(coroutine) for coroutine in coroutines]
    return [task.result() for task in tasks]
