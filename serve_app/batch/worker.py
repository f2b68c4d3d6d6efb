"""The actor of a job that answers questions, many at once, on an event loop of its own."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np
from ray.util.metrics import Counter

from nl2sql.settings import Settings
from serve_app.batch.asking import Asker, open_local, open_service
from serve_app.batch.engines import PooledEngine
from serve_app.batch.job import Job
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.results import Row
from serve_app.composition.wiring import Wiring
from serve_app.service.metrics import BATCH_QUESTIONS
from serve_app.service.question_log import configure_logging

# As in the ingress of the service: SQL is parsed in threads beside the event loop.
_SWITCH_S = 0.0005


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """What a worker needs: the job, and the engines or the URL of the service that answers."""

    wiring: Wiring
    job: Job
    questions_at_once: int
    engines: tuple[Any, ...] = ()
    service: str = ""

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self.wiring.settings

    def open_asker(self) -> AbstractAsyncContextManager[Asker]:
        """What answers the questions of a worker."""
        if self.service:
            return open_service(
                self.service,
                self.job.spec,
                self.settings,
                questions_at_once=self.questions_at_once,
            )
        return open_local(
            self.wiring,
            self.job.spec,
            PooledEngine(self.engines),
            questions_at_once=self.questions_at_once,
        )


class AnswerQuestions:
    """Answers blocks of questions. Ray Data calls it in several threads, which share the limit."""

    def __init__(self, plan: WorkerPlan) -> None:
        configure_logging(plan.settings.observability)
        sys.setswitchinterval(_SWITCH_S)
        self._plan = plan
        metric = BATCH_QUESTIONS
        self._counter = Counter(metric.name, metric.description, metric.tags)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="questions", daemon=True).start()
        self._stack = AsyncExitStack()
        self._asker, self._free = self._run(self._open())
        # As in the ingress: what is loaded now stays, so that it need not be looked through again.
        gc.collect()
        gc.freeze()

    def __call__(self, blocks: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Answers the questions of blocks, and writes their results."""
        job = self._plan.job
        for number in map(int, blocks["data"]):
            rows: list[Row] = self._run(self._ask_all(job.read_questions(number)))
            job.write_results(number, rows)
        return blocks

    async def _open(self) -> tuple[Asker, asyncio.Semaphore]:
        asker = await self._stack.enter_async_context(self._plan.open_asker())
        return asker, asyncio.Semaphore(self._plan.questions_at_once)

    async def _ask_all(self, questions: Sequence[BatchQuestion]) -> list[Row]:
        async def ask(question: BatchQuestion) -> Row:
            async with self._free:
                row: Row = await self._asker.ask(question)
            tags = (str(row["outcome"]), "service" if self._plan.service else "job")
            self._counter.inc(1, tags=dict(zip(BATCH_QUESTIONS.tags, tags, strict=True)))
            return row

        return list(await asyncio.gather(*map(ask, questions)))

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
