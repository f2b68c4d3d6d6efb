"""Answers one question of a job, in this process or by a running service, and makes its row."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import httpx

from evaluation.runs.variants import override
from nl2sql.answers import Answer
from nl2sql.errors import Busy, LimitReached, QuorumError, Unavailable
from nl2sql.protocols import Engine
from nl2sql.rendering import build_response
from nl2sql.settings import Settings
from quorumsql import wire
from quorumsql.contract import QueryRequest
from retrieval.index_store.audit_store import AuditStore
from serve_app.batch.job import JobSpec
from serve_app.batch.questions import BatchQuestion, build_request
from serve_app.batch.results import Row, build_error_row, build_row
from serve_app.composition.local import open_parts
from serve_app.composition.wiring import Wiring
from serve_app.reporting import SilentReporter
from serve_app.service.accounting import Accounting
from serve_app.service.audit import build_sinks
from serve_app.service.query_service import QueryService

_LOG = logging.getLogger("quorumsql")
_PRIORITY = {"QuorumSQL-Priority": "batch"}
_TRY_AGAIN = (429, 503)
# Five minutes in all: enough for a database or a service to be restarted.
PAUSES_S = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 80.0)
# A service that is busy says when to come again. Nobody waits for the limits of a day.
_LONGEST_PAUSE_S = 900.0

_SHORTEST_PAUSE_S = 0.1

_Result = TypeVar("_Result")


class RetryPolicy:
    """Waits between the attempts at a call. Concurrent callers wait at the same time."""

    def __init__(self, pauses_s: Sequence[float] = PAUSES_S) -> None:
        self._pauses_s = tuple(pauses_s)
        self._given_up: set[str] = set()

    async def run(self, name: str, call: Callable[[], Awaitable[_Result]]) -> _Result:
        """Returns the result of ``call``, which depends on ``name``.

        Raises its last Unavailable; LimitReached if its limit lasts longer than a quarter of an
        hour. While calls that depend on ``name`` fail after all attempts, the next ones get a
        single attempt, until one succeeds.
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
                    self._given_up.add(name)
                if pause_s is None or name in self._given_up:
                    raise
                await asyncio.sleep(pause_s)
            else:
                self._given_up.discard(name)
                return answer


class Asker(Protocol):
    """Answers questions; several at once."""

    async def ask(self, question: BatchQuestion) -> Row:
        """The row of a question. Raises nothing: an error is a row too."""
        ...


@dataclass(frozen=True, slots=True)
class LocalAsker:
    """The pipeline in this process, with the engines of the job."""

    spec: JobSpec
    settings: Settings
    service: QueryService
    retries: RetryPolicy
    model: str

    async def ask(self, question: BatchQuestion) -> Row:
        """See Asker."""
        name = question.principal or self.spec.submitter
        start = time.perf_counter()
        try:
            principal = self.settings.identity.principal(name)
            request = _build_request(question, self.spec, self.settings)

            async def attempt() -> Answer:
                nonlocal start
                start = time.perf_counter()  # excludes waiting for an outage
                return await self.service.query(request, principal)

            answer = await self.retries.run(request.database or "", attempt)
            context = answer.trace.context
            return build_row(
                question,
                principal.name,
                build_response(answer, trace=True),
                seconds=time.perf_counter() - start,
                kept_rows=self.spec.kept_rows,
                index_version=context.version if context else None,
                model=self.model,
            )
        except Exception as error:  # one question must not end the job
            if not isinstance(error, QuorumError):
                _LOG.exception("unexpected error")
            return build_error_row(question, name, error, seconds=time.perf_counter() - start)


@asynccontextmanager
async def open_local(
    wiring: Wiring, spec: JobSpec, engine: Engine, *, questions_at_once: int
) -> AsyncIterator[LocalAsker]:
    """Opens index, databases and pipeline until the block ends. Raises SettingsError, ModelError"""
    settings = adapt_settings(wiring.settings, questions_at_once)
    wiring = replace(wiring, settings=settings)
    async with open_parts(wiring, SilentReporter(), engine=engine) as parts:
        accounting = Accounting(sinks=build_sinks(settings.audit, AuditStore(parts.store)))
        service = QueryService(settings, parts.build_pipeline(settings), {}, accounting=accounting)
        yield LocalAsker(spec, settings, service, RetryPolicy(), wiring.models.model_name())


def adapt_settings(settings: Settings, questions_at_once: int) -> Settings:
    """The settings of a job.

    As in the evaluation, sampling has no time limit unless one is set, so that answers do not
    depend on the load.
    """
    changes = [
        f"serve.max_ongoing_requests={questions_at_once}",
        # Nobody waits for one question of a job: none is refused so that others are faster.
        "serve.max_slowdown=1000000",
    ]
    if settings.limits.sampling_timeout_ms is None:
        changes.append("limits.sampling_timeout_ms=0")
    return override(settings, changes)


@dataclass(frozen=True, slots=True)
class ServiceAsker:
    """The service that ``http`` reaches, after the questions of people.

    ``environ`` holds the tokens of principals.
    """

    spec: JobSpec
    settings: Settings
    http: httpx.AsyncClient
    retries: RetryPolicy
    environ: Mapping[str, str]

    async def ask(self, question: BatchQuestion) -> Row:
        """See Asker."""
        name = question.principal or self.spec.submitter
        start = time.perf_counter()
        try:
            token = self.settings.identity.read_token(name, self.environ)
            body = _build_request(question, self.spec, self.settings).model_dump()
            headers = {**_PRIORITY, **wire.build_headers(token)}

            async def attempt() -> httpx.Response:
                nonlocal start
                start = time.perf_counter()
                try:
                    response = await self.http.post("/query", json=body, headers=headers)
                except httpx.HTTPError as error:
                    raise wire.build_unreachable(str(self.http.base_url), error) from error
                if response.status_code in _TRY_AGAIN:
                    raise wire.translate(response)
                return response

            answered = await self.retries.run("service", attempt)
            return build_row(
                question,
                name,
                wire.read_answer(wire.read_json(answered)),
                seconds=time.perf_counter() - start,
                kept_rows=self.spec.kept_rows,
            )
        except Exception as error:  # one question must not end the job
            return build_error_row(question, name, error, seconds=time.perf_counter() - start)


@asynccontextmanager
async def open_service(
    url: str, spec: JobSpec, settings: Settings, *, questions_at_once: int
) -> AsyncIterator[ServiceAsker]:
    """Asks the service at ``url`` until the block ends."""
    limits = httpx.Limits(max_connections=questions_at_once)
    async with httpx.AsyncClient(
        base_url=url, timeout=wire.ENDLESS_TIMEOUT, limits=limits
    ) as client:
        yield ServiceAsker(spec, settings, client, RetryPolicy(), os.environ)


def _build_request(question: BatchQuestion, spec: JobSpec, settings: Settings) -> QueryRequest:
    max_rows = spec.max_rows or settings.limits.rows
    return build_request(question, k=spec.k, seed=spec.seed, max_rows=max_rows)
