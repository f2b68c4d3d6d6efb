"""Passes on the progress of running work, at a limited rate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from nl2sql.types import Progress

# People read no faster than this.
_INTERVAL_S = 0.2


class ProgressQueue:
    """An observer that keeps the latest progress of each stage until it is passed on."""

    def __init__(self) -> None:
        self._waiting: list[Progress] = []
        self._changed = asyncio.Event()

    def observe(self, progress: Progress) -> None:
        """See ``Observer.observe``."""
        if self._waiting and self._waiting[-1].stage == progress.stage:
            self._waiting.pop()
        self._waiting.append(progress)
        self._changed.set()

    async def follow(
        self, work: asyncio.Future[Any], *, silence_s: float
    ) -> AsyncIterator[Progress | None]:
        """Yields progress until ``work`` has ended; None after each ``silence_s`` without any."""
        while not work.done():
            change = asyncio.ensure_future(self._changed.wait())
            try:
                await asyncio.wait(
                    {work, change}, timeout=silence_s, return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                change.cancel()
            if not self._waiting and not work.done():
                yield None
                continue
            for progress in self._take():
                yield progress
            await asyncio.wait({work}, timeout=_INTERVAL_S)
        for progress in self._take():
            yield progress

    def _take(self) -> list[Progress]:
        taken, self._waiting = self._waiting, []
        self._changed.clear()
        return taken
