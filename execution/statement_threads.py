"""Runs the statements of one database in threads, for engines that run in this process.

The number of threads is limited; principals take turns. A caller gets its answer within the time
limit; a statement that is no longer awaited is told to stop until it has stopped. Knows nothing of
the engine.

If an engine does not stop, its caller is still answered in time, but its thread stays occupied
until the statement ends by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from execution.database_turns import DatabaseTurns
from nl2sql.types import Diagnostic, ExecutionLimits

# The SQLSTATE of a statement that was stopped, or that did not answer in time.
QUERY_CANCELED = "57014"

# An engine may ignore a request to stop before the statement has begun, so it is repeated.
_STOP_INTERVAL_S = 0.05

Answer = TypeVar("Answer", covariant=True)


class Statement(Protocol[Answer]):
    """One statement that runs in a thread, within its time limit."""

    @property
    def timeout_ms(self) -> int: ...

    def run(self) -> Answer | Diagnostic:
        """Runs in a worker thread. Raises DatabaseUnavailable."""
        ...

    def stop(self) -> None:
        """Asks it to end; harmless before it has begun and after its end. Any thread may call."""
        ...


class StatementThreads:
    """The threads of one database, for ``most`` statements at a time.

    ``on_idle`` is called when the last statement has ended; ``processors`` can work on one.
    """

    def __init__(
        self,
        name: str,
        most: int,
        on_idle: Callable[[], None] | None = None,
        *,
        processors: int = 1,
    ) -> None:
        self._name = name
        self._most = most
        self._on_idle = on_idle
        self._turns = DatabaseTurns(name, most, processors=processors)
        self._threads: ThreadPoolExecutor | None = None
        self._running: set[Statement[object]] = set()

    @property
    def is_idle(self) -> bool:
        """True if no statement is running."""
        return not self._running

    async def run(
        self,
        build: Callable[[], Statement[Answer]],
        *,
        who: str = "",
        limits: ExecutionLimits | None = None,
    ) -> Answer | Diagnostic:
        """The answer of the statement, or a Diagnostic if it took too long.

        Waits for a turn of the principal ``who``, see ``DatabaseTurns``; then ``build`` makes the
        statement, whose time begins. Raises Busy, and what ``build`` and the statement raise.
        Cancelling the task stops the statement.
        """
        await self._turns.take(who, limits)
        try:
            statement = build()
        except BaseException:
            self._turns.give_back(who)
            raise
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._most, f"database-{self._name}")
        self._running.add(statement)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, statement.run)

        def finish(done: asyncio.Future[Answer | Diagnostic]) -> None:
            # Only now: a statement that is no longer awaited still occupies its thread.
            self._running.discard(statement)
            self._turns.give_back(who)
            if not done.cancelled():
                done.exception()
            if self._on_idle is not None and not self._running:
                self._on_idle()

        def stop() -> None:
            if not work.done():
                statement.stop()
                loop.call_later(_STOP_INTERVAL_S, stop)

        work.add_done_callback(finish)
        timeout_ms = statement.timeout_ms
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
        """Stops running statements and ends the threads; a later call starts new ones."""
        threads, self._threads = self._threads, None
        if threads is None:
            return
        ended = asyncio.ensure_future(asyncio.to_thread(threads.shutdown))
        while not ended.done():
            for statement in tuple(self._running):
                statement.stop()
            await asyncio.wait({ended}, timeout=_STOP_INTERVAL_S)
