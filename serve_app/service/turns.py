"""Limits how many requests are answered at a time, and how many may wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from nl2sql.errors import Unavailable


class Turns:
    """Admits ``most`` requests at a time, in order; ``most_waiting`` more may wait.

    ``report`` is called with the numbers of waiting and ongoing requests whenever they change.
    """

    def __init__(
        self,
        most: int,
        most_waiting: int,
        report: Callable[[int, int], None] = lambda waiting, ongoing: None,
    ) -> None:
        self._report = report
        self._free = asyncio.Semaphore(most)
        self._most_waiting = most_waiting
        self._waiting = 0
        self._ongoing = 0
        self._idle = asyncio.Event()
        self._idle.set()
        self._busy = asyncio.Event()

    async def wait_until_idle(self) -> None:
        """Waits until no request is being answered."""
        await self._idle.wait()

    async def wait_until_busy(self) -> None:
        """Waits until a request is being answered."""
        await self._busy.wait()

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Waits for a turn and holds it until the block ends. Raises Unavailable."""
        if self._free.locked() and self._waiting >= self._most_waiting:
            raise Unavailable("Too many requests are waiting already.", hint="Try again later.")
        self._waiting += 1
        self._report(self._waiting, self._ongoing)
        try:
            await self._free.acquire()
        except BaseException:
            self._waiting -= 1
            self._report(self._waiting, self._ongoing)
            raise
        self._waiting -= 1
        self._ongoing += 1
        self._report(self._waiting, self._ongoing)
        self._idle.clear()
        self._busy.set()
        try:
            yield
        finally:
            self._ongoing -= 1
            self._report(self._waiting, self._ongoing)
            if not self._ongoing:
                self._idle.set()
                self._busy.clear()
            self._free.release()
