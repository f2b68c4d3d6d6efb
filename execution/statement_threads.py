"""Runs the statements of one database in threads: for engines that live in this process.

At most so many at a time; whoever waits gets its answer in time, and a statement that nobody waits
for any more is told to stop until it has. Knows nothing of the engine, which a statement brings.

Does not cover an engine that will not stop: its caller is answered in time all the same, its thread
comes free when it ends by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from nl2sql.errors import DatabaseUnavailable
from nl2sql.types import Diagnostic

# What the whole statement was ended for; also given where nothing was heard of it in time.
QUERY_CANCELED = "57014"

# How long a statement waits for its turn.
_SLOT_TIMEOUT_S = 5
# An engine may lose what it is told before the statement has begun, so it is told again.
_STOP_INTERVAL_S = 0.05

Answer = TypeVar("Answer", covariant=True)


class Statement(Protocol[Answer]):
    """One statement on its way through a thread."""

    def run(self) -> Answer | Diagnostic:
        """In a thread of its own. Raises DatabaseUnavailable."""
        ...

    def stop(self) -> None:
        """Ends it soon; harmless before it has begun and after it has ended. Any thread."""
        ...


class StatementThreads:
    """The threads of one database. ``on_idle`` is called when the last statement has ended."""

    def __init__(self, name: str, most: int, on_idle: Callable[[], None] | None = None) -> None:
        self._name = name
        self._most = most
        self._on_idle = on_idle
        self._slots = asyncio.Semaphore(most)
        self._threads: ThreadPoolExecutor | None = None
        self._running: set[Statement[object]] = set()

    @property
    def is_idle(self) -> bool:
        """True when no statement runs."""
        return not self._running

    async def run(self, statement: Statement[Answer], timeout_ms: int) -> Answer | Diagnostic:
        """The statement's answer, or that it took too long.

        Raises DatabaseUnavailable where no thread came free, and what the statement raises.
        Cancelling the task stops the statement.
        """
        try:
            async with asyncio.timeout(_SLOT_TIMEOUT_S):
                await self._slots.acquire()
        except TimeoutError as error:
            raise DatabaseUnavailable(
                f"The database {self._name!r} is busy.",
                database=self._name,
                hint="Try again later.",
            ) from error
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._most, f"database-{self._name}")
        self._running.add(statement)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, statement.run)

        def finish(done: asyncio.Future[Answer | Diagnostic]) -> None:
            # Only now: a statement that is no longer waited for still has its thread.
            self._running.discard(statement)
            self._slots.release()
            if not done.cancelled():
                done.exception()
            if self._on_idle is not None and not self._running:
                self._on_idle()

        def stop() -> None:
            if not work.done():
                statement.stop()
                loop.call_later(_STOP_INTERVAL_S, stop)

        work.add_done_callback(finish)
        late = Diagnostic(QUERY_CANCELED, f"The statement took longer than {timeout_ms} ms.")
        try:
            done, _ = await asyncio.wait({work}, timeout=timeout_ms / 1000)
        except asyncio.CancelledError:
            stop()
            raise
        if not done:
            stop()
            return late
        answer = work.result()
        is_late = isinstance(answer, Diagnostic) and answer.sqlstate == QUERY_CANCELED
        return late if is_late else answer

    async def close(self) -> None:
        """Ends what runs and the threads; a later call starts new ones."""
        threads, self._threads = self._threads, None
        if threads is None:
            return
        ended = asyncio.ensure_future(asyncio.to_thread(threads.shutdown))
        while not ended.done():
            for statement in tuple(self._running):
                statement.stop()
            await asyncio.wait({ended}, timeout=_STOP_INTERVAL_S)
