"""Passes on the progress of running work, at a limited rate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from nl2sql.answers import QuestionEvent
from nl2sql.types import Progress

# People read no faster than this.
_INTERVAL_S = 0.2


class ProgressQueue:
    """An observer that keeps the latest progress of each stage until it is passed on."""

    def __init__(self) -> None:
        self._waiting: list[QuestionEvent] = []
        self._changed = asyncio.Event()

    def observe(self, event: QuestionEvent) -> None:
        """See ``Observer.observe``."""
        last = self._waiting[-1] if self._waiting else None
        if isinstance(event, Progress) and isinstance(last, Progress) and last.stage == event.stage:
            self._waiting.pop()
        self._waiting.append(event)
        self._changed.set()

    async def follow(
        self, work: asyncio.Future[Any], *, silence_s: float
    ) -> AsyncIterator[QuestionEvent | None]:
        """Yields events until ``work`` has ended; None after each ``silence_s`` without any."""
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
            for event in self._take():
                yield event
            await asyncio.wait({work}, timeout=_INTERVAL_S)
        for event in self._take():
            yield event

    def _take(self) -> list[QuestionEvent]:
        taken, self._waiting = self._waiting, []
        self._changed.clear()
        return taken
