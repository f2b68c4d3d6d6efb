"""Runs coroutines concurrently, and work once that several callers need at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

_T = TypeVar("_T")


class Closable(Protocol):
    """What holds connections, a thread or a model."""

    async def close(self) -> None: ...


_C = TypeVar("_C", bound=Closable)


@asynccontextmanager
async def closing(resource: _C) -> AsyncIterator[_C]:
    """``resource``, which is closed when the block ends."""
    try:
        yield resource
    finally:
        await resource.close()


@asynccontextmanager
async def running(work: Coroutine[Any, Any, _T]) -> AsyncIterator[asyncio.Task[_T]]:
    """``work`` as a task, which is cancelled when the block ends. Only the block sees its error."""
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait({task})


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """A task group that raises the first error of its tasks instead of an exception group.

    The first failure cancels the others; ``asyncio.gather`` would leave them running.
    """
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


@dataclass(eq=False, slots=True)
class _Running(Generic[_T]):
    task: asyncio.Task[_T]
    callers: int = 0


class SingleFlight(Generic[_T]):
    """Runs at most one task for each key; callers that come meanwhile get its result or its error.

    A lock would let callers repeat failing work one after the other, each waiting for all before
    it. For use in one event loop.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, _Running[_T]] = {}

    async def run(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, _T]]) -> _T:
        """The result of ``work``, or of the same work that is already running.

        Raises what the work raises. The work is cancelled when the last of its callers is, and a
        caller that is cancelled does not wait for its end: a driver may wait seconds for a silent
        server before it lets go of a statement.
        """
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = _Running(asyncio.create_task(work()))
        running.callers += 1
        try:
            return await asyncio.shield(running.task)
        finally:
            running.callers -= 1
            if running.task.done() or not running.callers:
                if self._running.get(key) is running:
                    del self._running[key]
                if not running.task.done():
                    running.task.cancel()
                    # Nobody waits for the outcome: it is marked as seen.
                    running.task.add_done_callback(
                        lambda task: task.cancelled() or task.exception()
                    )
