"""How long each stage of one question takes, and which tokens it costs."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from nl2sql.answers import StageTiming
from nl2sql.progress import enter_stage


class StageClock:
    """Collects the timings of stages: one that runs twice adds up, one that raises counts.

    Tells the question's observer which stage runs, under ``progress`` where it has another name.
    """

    def __init__(self) -> None:
        self._timings: dict[str, StageTiming] = {}

    @asynccontextmanager
    async def time(self, stage: str, total: int = 0, progress: str = "") -> AsyncIterator[None]:
        enter_stage(progress or stage, total)
        start = time.perf_counter()
        try:
            yield
        finally:
            ms = (time.perf_counter() - start) * 1000
            before = self._timings.get(stage, StageTiming(stage, 0.0))
            self._timings[stage] = replace(before, ms=before.ms + ms)
            self._last = stage

    def add_tokens(self, prompt: int, completion: int) -> None:
        timing = self._timings[self._last]
        self._timings[self._last] = replace(
            timing,
            prompt_tokens=timing.prompt_tokens + prompt,
            completion_tokens=timing.completion_tokens + completion,
        )

    @property
    def timings(self) -> tuple[StageTiming, ...]:
        return tuple(self._timings.values())
