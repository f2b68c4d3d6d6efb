"""Around each question: the principal's limits before it, the audit log after it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from nl2sql.answers import Answer
from nl2sql.errors import Unavailable
from nl2sql.protocols import Observer, Probe
from nl2sql.types import Principal, Question
from quorumsql.contract import QueryRequest
from serve_app.service.audit import AuditSink, Delivered, build_entry
from serve_app.service.usage import UsageMeter

_LOG = logging.getLogger("quorumsql")

Work = Callable[[Question, Observer | None], Awaitable[Answer]]


class _Asked(NamedTuple):
    """What is known of a question before it is answered."""

    principal: Principal
    database: str
    text: str
    session: str
    started: datetime


class Accounting:
    """Applies the limits of principals to questions, and records questions."""

    def __init__(self, meter: UsageMeter | None = None, sinks: Sequence[AuditSink] = ()) -> None:
        """Without ``meter`` nothing is limited, without ``sinks`` nothing recorded."""
        self._meter = meter
        self._sinks = tuple(sinks)

    async def answer(self, question: Question, observer: Observer | None, work: Work) -> Answer:
        """What ``work`` answers to the question, which may ask for fewer rows than before.

        Raises what ``work`` raises; LimitReached; Unavailable if the question cannot be counted or
        recorded.
        """
        return await self._run(question, observer, work, self._meter)

    async def record(self, question: Question, work: Work) -> Answer:
        """As ``answer``, but limits nothing: for what uses neither the model nor a database."""
        return await self._run(question, None, work, None)

    async def _run(
        self,
        question: Question,
        observer: Observer | None,
        work: Work,
        meter: UsageMeter | None,
    ) -> Answer:
        asked = _Asked(
            question.principal,
            question.database,
            question.text,
            question.session,
            datetime.now(UTC),
        )
        delivered = Delivered(observer)
        try:
            answer = await _measure(question, delivered, work, meter)
        except BaseException as error:
            await self._record_error(asked, error, delivered)
            raise
        await self._record(asked, answer, delivered)
        return answer

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """See ``Probe.probe``: whether questions can be recorded."""
        probes = [await sink.probe() for sink in self._sinks if isinstance(sink, Probe)]
        return tuple(pair for pairs in probes for pair in pairs)

    async def record_invalid(
        self, request: QueryRequest, principal: Principal, error: Exception
    ) -> None:
        """Records a request that is not a valid question, such as one about a hidden database."""
        asked = _Asked(
            principal,
            request.database or "",
            request.question,
            request.session or "",
            datetime.now(UTC),
        )
        await self._record_error(asked, error, Delivered(None))

    async def _record_error(
        self, asked: _Asked, error: BaseException, delivered: Delivered
    ) -> None:
        """As ``_record``, but does not hide the error that is being raised."""
        try:
            # In a task, because a cancelled question is recorded too.
            await asyncio.shield(asyncio.create_task(self._record(asked, error, delivered)))
        except Unavailable as problem:
            _LOG.error("a question of %s was not recorded: %s", asked.principal.name, problem)

    async def _record(
        self, asked: _Asked, outcome: Answer | BaseException, delivered: Delivered
    ) -> None:
        if not self._sinks:
            return
        entry = build_entry(
            principal=asked.principal,
            database=asked.database,
            question=asked.text,
            session=asked.session,
            started=asked.started,
            outcome=outcome,
            delivered=delivered,
        )
        for sink in self._sinks:
            await sink.add(entry)


async def _measure(
    question: Question, delivered: Delivered, work: Work, meter: UsageMeter | None
) -> Answer:
    if meter is None:
        answer = await work(question, delivered.observer)
        delivered.complete(answer)
        return answer
    async with meter.measure(question) as usage:
        try:
            answer = await work(usage.question, delivered.observer)
            delivered.complete(answer)
            usage.count_tokens(answer)
        finally:
            usage.rows = delivered.rows or 0
    return answer
