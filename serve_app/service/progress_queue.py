"""Follows work that tells how far it is, and passes on what is worth telling."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from nl2sql.types import Progress

# Nobody reads faster.
_INTERVAL_S = 0.2


class ProgressQueue:
    """An observer: of each stage the latest is kept until it is passed on."""

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
        """What was observed, until ``work`` has ended; None after each silence of so long."""
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
