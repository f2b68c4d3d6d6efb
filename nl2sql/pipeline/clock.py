"""Measures the duration and the tokens of each stage of one question."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from nl2sql.answers import StageTiming
from nl2sql.progress import enter_stage
from nl2sql.spans import open_span


class StageClock:
    """Collects the timings of stages; repeated and failed runs of a stage are added up.

    Reports each stage to the question's observer, under the name ``progress`` if that is given, and
    opens a span for it.
    """

    def __init__(self) -> None:
        self._timings: dict[str, StageTiming] = {}

    @asynccontextmanager
    async def time(self, stage: str, total: int = 0, progress: str = "") -> AsyncIterator[None]:
        enter_stage(progress or stage, total)
        start = time.perf_counter()
        try:
            with open_span(stage):
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
