"""Answers one question of a job in this process, and makes its row."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from data.benchmarks.types import Example
from evaluation.metrics.judge import Judge, Response
from evaluation.runs.variants import override
from nl2sql.answers import Answer
from nl2sql.errors import QuorumError
from nl2sql.protocols import Engine
from nl2sql.rendering import build_response
from nl2sql.settings import Settings
from nl2sql.types import Principal
from quorumsql.contract import QueryResponse
from retrieval.index_store.audit_store import AuditStore
from serve_app.batch.job import JobSpec
from serve_app.batch.patience import Patience
from serve_app.batch.questions import BatchQuestion, build_request, read_chat
from serve_app.batch.results import (
    ResultFormat,
    Revision,
    Row,
    build_error_row,
    build_openai_response,
    build_row,
)
from serve_app.composition.local import LocalParts, open_parts
from serve_app.composition.wiring import Wiring
from serve_app.http.openai.content import render_answer
from serve_app.http.openai.responses import Completion, build_error, count_usage
from serve_app.http.problems import describe_error
from serve_app.reporting import Silence
from serve_app.service.accounting import Accounting
from serve_app.service.audit import build_sinks
from serve_app.service.query_service import QueryService

_LOG = logging.getLogger("quorumsql")
# OpenAI answers 400 to what cannot be processed.
_UNPROCESSABLE, _BAD_REQUEST = 422, 400


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
    parts: LocalParts
    service: QueryService
    patience: Patience
    model: str

    async def ask(self, question: BatchQuestion) -> Row:
        """See Asker."""
        name = question.principal or self.spec.submitter
        start = time.perf_counter()
        try:
            principal = self.settings.identity.principal(name)
            request, history = build_request(
                question,
                self.settings,
                k=self.spec.k,
                seed=self.spec.seed,
                max_rows=self.spec.max_rows or self.settings.limits.rows,
            )

            async def attempt() -> Answer:
                nonlocal start
                start = time.perf_counter()  # excludes waiting for an outage
                return await self.service.query(request, principal, history=history)

            answer = await self.patience.ask(request.database or "", attempt)
            seconds = time.perf_counter() - start
            return await self._build_row(question, principal, answer, seconds)
        except Exception as error:  # one question must not end the job
            if not isinstance(error, QuorumError):
                _LOG.exception("unexpected error")
            row = build_error_row(question, name, error, seconds=time.perf_counter() - start)
            return row | describe_for_openai(self.spec, error)

    async def _build_row(
        self, question: BatchQuestion, principal: Principal, answer: Answer, seconds: float
    ) -> Row:
        response = build_response(answer, trace=True)
        context = answer.trace.context
        row = build_row(
            question,
            principal.name,
            response,
            seconds=seconds,
            kept_rows=self.spec.kept_rows,
            revision=Revision(context.version if context else None, self.model),
        )
        if question.gold:
            row |= await self._judge(question, principal, answer, response, seconds)
        if self.spec.result_format == ResultFormat.OPENAI:
            row["response"] = _build_completion(question, answer)
        return row

    async def _judge(
        self,
        question: BatchQuestion,
        principal: Principal,
        answer: Answer,
        response: QueryResponse,
        seconds: float,
    ) -> Row:
        """Whether the answer's result is that of the gold query, as the evaluation judges it."""
        parts, ranking = self.parts, answer.trace.ranking
        judge = Judge(parts.catalogs, parts.guard, parts.executor, principal=principal)
        example = Example(
            id=question.id,
            database=answer.trace.question.database,
            question=question.question,
            golds=(question.gold,),
        )
        results = {
            assessment.candidate.id: assessment.result
            for assessment in (ranking.assessments if ranking else ())
            if assessment.result is not None
        }
        gold = await judge.gold(example)
        if gold.error:
            return {"gold_error": gold.error}
        record = await judge.judge(
            example, Response(response, results), evidence=False, seconds=seconds
        )
        return {"correct": record.correct}


@asynccontextmanager
async def open_local(
    wiring: Wiring, spec: JobSpec, engine: Engine, *, questions_at_once: int, has_golds: bool
) -> AsyncIterator[LocalAsker]:
    """Opens index, databases and pipeline until the block ends. Raises SettingsError, ModelError"""
    settings = adapt_settings(wiring.settings, questions_at_once, has_golds=has_golds)
    wiring = replace(wiring, settings=settings)
    async with open_parts(wiring, Silence(), engine=engine) as parts:
        accounting = Accounting(sinks=build_sinks(settings.audit, AuditStore(parts.store)))
        service = QueryService(settings, parts.build_pipeline(settings), {}, accounting=accounting)
        yield LocalAsker(spec, settings, parts, service, Patience(), wiring.models.model_name())


def adapt_settings(settings: Settings, questions_at_once: int, *, has_golds: bool) -> Settings:
    """The settings of a job.

    As in the evaluation, sampling has no time limit unless one is set, so that answers do not
    depend on the load, and with golds no prompt holds the question itself as an example.
    """
    changes = [
        f"serve.max_ongoing_requests={questions_at_once}",
        # Nobody waits for one question of a job: none is refused so that others are faster.
        "serve.max_slowdown=1000000",
    ]
    if has_golds:
        changes.append("retrieval.same_question=false")
    if settings.limits.sampling_timeout_ms is None:
        changes.append("limits.sampling_timeout_ms=0")
    return override(settings, changes)


def describe_for_openai(spec: JobSpec, error: Exception) -> Row:
    """The response of an error in OpenAI's form, if the job's results have that form."""
    if spec.result_format != ResultFormat.OPENAI:
        return {}
    status, problem = describe_error(error)
    body = build_error(status, problem)
    if status == _UNPROCESSABLE:
        status = _BAD_REQUEST
    return {"response": build_openai_response(status, _name_request(), body)}


def _build_completion(question: BatchQuestion, answer: Answer) -> str:
    model = read_chat(question).model if question.chat else answer.trace.question.database
    body = Completion(model).build_whole(render_answer(answer), count_usage(answer.trace))
    return build_openai_response(200, _name_request(), body)


def _name_request() -> str:
    return f"req_{secrets.token_hex(12)}"
