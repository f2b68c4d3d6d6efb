"""Ends a request at its time limit, but not before it has a first result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class TimeLimit:
    """A limit in seconds from now, None for no limit; it has no effect until it is armed."""

    def __init__(self, seconds: float | None) -> None:
        self._at = None if seconds is None else asyncio.get_running_loop().time() + seconds
        self._timer = asyncio.timeout(None)
        self._is_armed = False

    def arm(self, *, if_any: bool = True) -> None:
        """Lets the limit end the block of ``hold``, at once if it has passed."""
        if if_any != self._is_armed:
            self._is_armed = if_any
            self._timer.reschedule(self._at if if_any else None)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Leaves the block at the limit. One block at a time; it may be entered again."""
        self._timer = asyncio.timeout_at(self._at if self._is_armed else None)
        try:
            async with self._timer:
                yield
        except TimeoutError:
            if not self._timer.expired():
                raise
