"""Asks the running service the questions of a job, and makes their rows."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from nl2sql.errors import Busy, LimitReached, Unavailable
from quorumsql.async_client import AsyncClient
from quorumsql.contract import QueryResponse
from serve_app.batch.job import Job, JobSpec
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.results import Row, build_error_row, build_row
from serve_app.settings import Settings

# Five minutes in all: enough for a database or the service to be restarted.
PAUSES_S = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 80.0)
# A service that is busy says when to come again. Nobody waits for the limits of a day.
_LONGEST_PAUSE_S = 900.0

_SHORTEST_PAUSE_S = 0.1

_Result = TypeVar("_Result")


class RetryPolicy:
    """Waits between the attempts at a call. Concurrent callers wait at the same time."""

    def __init__(self, pauses_s: Sequence[float] = PAUSES_S) -> None:
        self._pauses_s = tuple(pauses_s)
        self._has_given_up = False

    async def run(self, call: Callable[[], Awaitable[_Result]]) -> _Result:
        """Returns the result of ``call``.

        Raises its last Unavailable; LimitReached if its limit lasts longer than a quarter of an
        hour. While calls fail after all attempts, the next ones get a single attempt, until one
        succeeds.
        """
        pauses_s = iter(self._pauses_s)
        while True:
            try:
                answer = await call()
            except (Busy, LimitReached) as error:
                if error.retry_after_s > _LONGEST_PAUSE_S:
                    raise
                await asyncio.sleep(max(error.retry_after_s, _SHORTEST_PAUSE_S))
            except Unavailable:
                pause_s = next(pauses_s, None)
                if pause_s is None:
                    self._has_given_up = True
                if pause_s is None or self._has_given_up:
                    raise
                await asyncio.sleep(pause_s)
            else:
                self._has_given_up = False
                return answer


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks the questions of a job through ``client``."""

    spec: JobSpec
    client: AsyncClient
    retries: RetryPolicy

    async def ask(self, question: BatchQuestion) -> Row:
        """The row of a question. Raises nothing: an error is a row too."""
        spec = self.spec
        start = time.perf_counter()

        async def attempt() -> QueryResponse:
            nonlocal start
            start = time.perf_counter()  # excludes waiting for an outage
            return await self.client.ask(
                question.question,
                evidence=question.evidence,
                database=question.database or None,
                k=spec.k,
                seed=spec.seed,
                max_rows=spec.max_rows,
                trace=True,
            )

        try:
            answer = await self.retries.run(attempt)
            seconds = time.perf_counter() - start
            return build_row(question, answer, seconds=seconds, kept_rows=spec.kept_rows)
        except Exception as error:  # one question must not end the job
            return build_error_row(question, error, seconds=time.perf_counter() - start)


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """What a worker needs: the job, the settings, and the URL of the service."""

    settings: Settings
    job: Job
    url: str
    questions_at_once: int


class AnswerQuestions:
    """Answers blocks of questions, on an event loop of its own.

    Ray Data calls it in several threads, which share the limit of questions at once.
    """

    def __init__(self, plan: WorkerPlan) -> None:
        self._job = plan.job
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="questions", daemon=True).start()
        self._asker, self._free = self._run(_open(plan))

    def __call__(self, blocks: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Answers the questions of blocks, and writes their results."""
        for number in map(int, blocks["data"]):
            rows: list[Row] = self._run(self._ask_all(self._job.read_questions(number)))
            self._job.write_results(number, rows)
        return blocks

    async def _ask_all(self, questions: Sequence[BatchQuestion]) -> list[Row]:
        async def ask(question: BatchQuestion) -> Row:
            async with self._free:
                row: Row = await self._asker.ask(question)
                return row

        return list(await asyncio.gather(*map(ask, questions)))

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


async def _open(plan: WorkerPlan) -> tuple[Asker, asyncio.Semaphore]:
    """Both belong to the event loop. The client lives as long as the worker's process."""
    spec = plan.job.spec
    client = AsyncClient(plan.url, plan.settings.identity.read_token(spec.principal))
    return Asker(spec, client, RetryPolicy()), asyncio.Semaphore(plan.questions_at_once)
