"""The queue of one database, and the threads for engines that run in this process.

A statement waits for its turn at most half of the time that its request has left, so that as much
remains for running it and for what follows.

On a database that computes on this machine, one principal gets at most as many turns as occupy half
of the processors, and at least one: another's statements find the other half idle.

The number of threads is limited; principals take turns. A caller gets its answer within the time
limit; a statement that is no longer awaited is told to stop until it has stopped. Knows nothing of
the engine.

If an engine does not stop, its caller is still answered in time, but its thread stays occupied
until the statement ends by itself.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Generic, TypeVar

from nl2sql.deadline import read_left_s
from nl2sql.errors import Busy, DatabaseUnavailable
from nl2sql.fair_turns import FairTurns
from nl2sql.settings import LimitSettings
from nl2sql.types import QUERY_CANCELED, Diagnostic, ExecutionLimits, GuardedQuery

_SHORTEST_RETRY_S, _LONGEST_RETRY_S = 1.0, 30.0


class DatabaseTurns:
    """At most ``most`` statements of the database ``name`` at a time, fairly by principal.

    ``processors`` of this machine can work on one statement; 0: it computes elsewhere.
    """

    def __init__(self, name: str, most: int, *, processors: int) -> None:
        self._name = name
        present = len(os.sched_getaffinity(0))
        most_each = max(1, present // (2 * processors)) if processors else None
        self._turns = FairTurns(most, most_each=most_each)
        self.give_back = self._turns.give_back

    async def take(self, who: str, limits: ExecutionLimits | None = None) -> None:
        """Waits for a turn of the principal, who must give it back.

        With ``limits``, it waits at most twice as long as the statement may run, so that one which
        runs as long may end before. Raises Busy after that time, DeadlineExceeded if the request
        has no time left.
        """
        start = time.monotonic()
        left_s = read_left_s()
        longest_s = None if left_s is None else left_s / 2
        if limits is not None:
            longest_s = min(2 * limits.timeout_ms / 1000, longest_s or float("inf"))
        try:
            async with asyncio.timeout(longest_s):
                await self._turns.take(who)
        except TimeoutError as error:
            waited_s = time.monotonic() - start
            seconds = min(max(waited_s, _SHORTEST_RETRY_S), _LONGEST_RETRY_S)
            raise Busy(
                f"The database {self._name!r} is busy: the query could not begin within "
                f"{waited_s:.1f} seconds.",
                retry_after_s=seconds,
                hint=f"Try again in {seconds:.0f} seconds.",
            ) from error


# An engine may ignore a request to stop before the statement has begun, so it is repeated.
_STOP_INTERVAL_S = 0.05
# A probe answers before its caller's time limit.
_PROBE_LIMITS = ExecutionLimits(timeout_ms=2000, result_bytes=1000)

Answer = TypeVar("Answer", covariant=True)


class Statement(ABC, Generic[Answer]):
    """One guarded query that runs in a thread, within its limits, and can be stopped by another."""

    def __init__(self, query: GuardedQuery, limits: LimitSettings) -> None:
        self.query = query
        self.limits = limits
        self._lock = threading.Lock()
        self._interrupt: Callable[[], None] | None = None

    @abstractmethod
    def run(self) -> Answer | Diagnostic:
        """Runs in a worker thread. Raises DatabaseUnavailable."""

    def stop(self) -> None:
        """Asks it to end; harmless before it has begun and after its end. Any thread may call."""
        with self._lock:
            if self._interrupt is not None:
                self._interrupt()

    @contextmanager
    def stoppable(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """In the block ``interrupt`` ends the statement."""
        with self._lock:
            self._interrupt = interrupt
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = None


class StatementThreads:
    """The threads of one database, for ``most`` statements at a time and one probe.

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
        # Of its own, so that a probe waits for no query.
        self._probes = DatabaseTurns(name, 1, processors=processors)
        self._threads: ThreadPoolExecutor | None = None
        self._running: set[Statement[object]] = set()

    @property
    def is_idle(self) -> bool:
        """True if no statement is running."""
        return not self._running

    async def probe(
        self, build: Callable[[GuardedQuery, ExecutionLimits], Statement[object]]
    ) -> str:
        """What is wrong with the database; empty if nothing is."""
        query = GuardedQuery(self._name, "SELECT 1", ())
        statement = partial(build, query, _PROBE_LIMITS)
        try:
            answer = await self.run(statement, who="", turns=self._probes)
        except DatabaseUnavailable as error:
            return str(error)
        return answer.message if isinstance(answer, Diagnostic) else ""

    async def run(
        self,
        build: Callable[[], Statement[Answer]],
        *,
        who: str,
        limits: ExecutionLimits | None = None,
        turns: DatabaseTurns | None = None,
    ) -> Answer | Diagnostic:
        """The answer of the statement, or a Diagnostic if it took too long.

        Waits for a turn of the principal ``who``, see ``DatabaseTurns``; then ``build`` makes the
        statement, whose time begins. Raises Busy, and what ``build`` and the statement raise.
        Cancelling the task stops the statement.
        """
        turns = turns or self._turns
        await turns.take(who, limits)
        try:
            statement = build()
        except BaseException:
            turns.give_back(who)
            raise
        if self._threads is None:
            # One more for a probe.
            self._threads = ThreadPoolExecutor(self._most + 1, f"database-{self._name}")
        self._running.add(statement)
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, statement.run)

        def finish(done: asyncio.Future[Answer | Diagnostic]) -> None:
            # Only now: a statement that is no longer awaited still occupies its thread.
            self._running.discard(statement)
            turns.give_back(who)
            if not done.cancelled():
                done.exception()
            if self._on_idle is not None and not self._running:
                self._on_idle()

        def stop() -> None:
            if not work.done():
                statement.stop()
                loop.call_later(_STOP_INTERVAL_S, stop)

        work.add_done_callback(finish)
        timeout_ms = statement.limits.statement_timeout_ms
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
