"""The stages of a pipeline, the one way from a candidate to an assessment, and the time of each.

The guard comes before everything else: what it refuses is never explained, run or voted
for. Ranking receives guarded queries only.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from nl2sql.answers import StageTiming
from nl2sql.progress import enter_stage, open_span
from nl2sql.protocols import Generator, Guard, Planner, Ranker, Repairer, Retriever
from nl2sql.types import (
    Assessment,
    Candidate,
    GuardedQuery,
    Plan,
    Question,
    SchemaContext,
    Violation,
)


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages, each in this process or behind a handle. Every method raises Unavailable."""

    retriever: Retriever
    planner: Planner
    generator: Generator
    guard: Guard
    ranker: Ranker
    repairer: Repairer

    async def check(self, question: Question, candidate: Candidate) -> GuardedQuery | Violation:
        """The guard's verdict for the principal who asks."""
        return await self.guard.guard(question.database, candidate.sql, question.principal)

    async def assess(
        self,
        question: Question,
        candidate: Candidate,
        verdict: GuardedQuery | Violation,
        context: SchemaContext,
        plan: Plan,
    ) -> Assessment:
        """EXPLAIN, findings and score; a refused candidate has none."""
        if isinstance(verdict, Violation):
            return Assessment(candidate, verdict)
        return await self.ranker.assess(question, candidate, verdict, context, plan)

    async def check_and_assess(
        self, question: Question, candidate: Candidate, context: SchemaContext, plan: Plan
    ) -> Assessment:
        """Both steps, for a candidate that comes alone."""
        verdict = await self.check(question, candidate)
        return await self.assess(question, candidate, verdict, context, plan)


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
