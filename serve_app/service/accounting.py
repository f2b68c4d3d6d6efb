"""Around each question: the principal's limits before it, the audit log after it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from nl2sql.answers import Answer
from nl2sql.errors import Unavailable
from nl2sql.protocols import Observer, Probe
from nl2sql.types import Principal, Question
from quorumsql.contract import QueryRequest
from serve_app.service.audit import AuditedQuestion, AuditSink, DeliveredResults, build_entry
from serve_app.service.usage import QuestionUsage, UsageMeter

_LOG = logging.getLogger("quorumsql")


class Account:
    """One question between its limits and the audit log.

    ``question`` may ask for fewer rows than the caller did: those that remain to the principal.
    """

    answer: Answer

    def __init__(self, question: Question, delivered: DeliveredResults) -> None:
        self.question = question
        self._delivered = delivered

    @property
    def observer(self) -> Observer | None:
        """Whom to tell what happens, so that it is known what was received."""
        return self._delivered.observer

    def finish(self, answer: Answer) -> None:
        """The question has this answer."""
        self.answer = answer
        self._delivered.complete(answer)


class Accounting:
    """Applies the limits of principals to questions, and records questions."""

    def __init__(self, meter: UsageMeter | None = None, sinks: Sequence[AuditSink] = ()) -> None:
        """Without ``meter`` nothing is limited, without ``sinks`` nothing recorded."""
        self._meter = meter
        self._sinks = tuple(sinks)

    @asynccontextmanager
    async def open(
        self, question: Question, observer: Observer | None = None, *, is_limited: bool = True
    ) -> AsyncIterator[Account]:
        """The account of a question; the block answers it and calls ``Account.finish``.

        Without ``is_limited`` nothing is counted: for what uses neither the model nor a database.
        Raises LimitReached; Unavailable if the question cannot be counted or recorded.
        """
        asked = AuditedQuestion(
            question.principal,
            question.database,
            question.text,
            question.session,
            datetime.now(UTC),
        )
        delivered = DeliveredResults(observer)
        try:
            async with self._limit(question, is_limited=is_limited) as usage:
                account = Account(usage.question, delivered)
                try:
                    yield account
                    usage.count_tokens(account.answer)
                finally:
                    usage.rows = delivered.rows or 0
        except BaseException as error:
            await self._record_error(asked, error, delivered)
            raise
        await self._record(asked, account.answer, delivered)

    @asynccontextmanager
    async def _limit(self, question: Question, *, is_limited: bool) -> AsyncIterator[QuestionUsage]:
        if self._meter is None or not is_limited:
            yield QuestionUsage(question, 0)
            return
        async with self._meter.measure(question) as usage:
            yield usage

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """See ``Probe.probe``: whether questions can be recorded."""
        probes = [await sink.probe() for sink in self._sinks if isinstance(sink, Probe)]
        return tuple(pair for pairs in probes for pair in pairs)

    async def record_invalid(
        self, request: QueryRequest, principal: Principal, error: Exception
    ) -> None:
        """Records a request that is not a valid question, such as one about a hidden database."""
        asked = AuditedQuestion(
            principal,
            request.database or "",
            request.question,
            request.session or "",
            datetime.now(UTC),
        )
        await self._record_error(asked, error, DeliveredResults(None))

    async def _record_error(
        self, asked: AuditedQuestion, error: BaseException, delivered: DeliveredResults
    ) -> None:
        """As ``_record``, but does not hide the error that is being raised."""
        try:
            # In a task, because a cancelled question is recorded too.
            await asyncio.shield(asyncio.create_task(self._record(asked, error, delivered)))
        except Unavailable as problem:
            _LOG.error("a question of %s was not recorded: %s", asked.principal.name, problem)

    async def _record(
        self, asked: AuditedQuestion, outcome: Answer | BaseException, delivered: DeliveredResults
    ) -> None:
        if not self._sinks:
            return
        entry = build_entry(asked, outcome, delivered)
        for sink in self._sinks:
            await sink.add(entry)
