"""How many requests are worked on at a time, and how many may wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from nl2sql.errors import Unavailable


class Turns:
    """``most`` at a time, first come, first served; ``most_waiting`` more wait."""

    def __init__(self, most: int, most_waiting: int) -> None:
        self._free = asyncio.Semaphore(most)
        self._most_waiting = most_waiting
        self._waiting = 0
        self._ongoing = 0

    @property
    def are_taken(self) -> bool:
        """Whether any request is being worked on."""
        return self._ongoing > 0

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Waits for a turn, and has it inside. Raises Unavailable."""
        if self._free.locked() and self._waiting >= self._most_waiting:
            raise Unavailable("Too many requests are waiting already.", hint="Try again later.")
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        self._ongoing += 1
        try:
            yield
        finally:
            self._ongoing -= 1
            self._free.release()
