"""Around each question: the principal's limits before it, the audit log after it.

The log says who asked what, which queries ran, and how it ended; never values of results. Each
question is recorded after its answer and before the answer is returned: an answer that cannot be
recorded is not given. Bound values of row filters and error messages, which can quote cells, are
not recorded. Literals in a query are: the question and the model wrote them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from datetime import UTC, datetime

from nl2sql.answers import Answer, Answered, Trace
from nl2sql.errors import Unavailable
from nl2sql.protocols import Observer
from nl2sql.types import Assessment, GuardedQuery, Principal, Question, ResultSet
from quorumsql.contract import QueryRequest
from retrieval.index_store.audit_store import AuditEntry, AuditStore
from serve_app.service.account import Account, name_outcome
from serve_app.service.usage import UsageMeter

_LOG = logging.getLogger("quorumsql")
_NO_ROWS = ResultSet((), (), (), truncated=False, ms=0.0)


class Accounting:
    """Applies the limits of principals to questions, and records questions."""

    def __init__(self, meter: UsageMeter | None = None, log: AuditStore | None = None) -> None:
        """Without ``meter`` nothing is limited, without ``log`` nothing recorded."""
        self._meter = meter
        self._log = log

    @asynccontextmanager
    async def open(
        self, question: Question, observer: Observer | None = None, *, is_limited: bool = True
    ) -> AsyncIterator[Account]:
        """The account of a question; the block answers it and calls ``Account.finish``.

        Without ``is_limited`` nothing is counted: for what uses neither the model nor a database.
        Raises LimitReached; Unavailable if the question cannot be counted or recorded.
        """
        account = Account(question, observer)
        limits: AbstractAsyncContextManager[None] = nullcontext()
        if self._meter is not None and is_limited:
            limits = self._meter.measure(account)
        try:
            async with limits:
                yield account
        except BaseException as error:
            await self._write_error(account, error)
            raise
        await self._write(account, account.answer)

    @asynccontextmanager
    async def record(
        self, text: str, database: str, principal: Principal, *, is_limited: bool = True
    ) -> AsyncIterator[None]:
        """Counts and records the block like a question with this text.

        ``database`` is empty for what concerns none, or several. Raises LimitReached, Unavailable.
        """
        question = Question(text, database, principal, k=1, seed=0, max_rows=1)
        async with self.open(question, is_limited=is_limited) as account:
            yield
            account.finish(Answered("", _NO_ROWS, 1.0, False, Trace(account.question)))

    def note(
        self, text: str, principal: Principal, database: str = ""
    ) -> AbstractAsyncContextManager[None]:
        """Records the block without counting it: it uses neither the model nor a database."""
        return self.record(text, database, principal, is_limited=False)

    async def record_invalid(
        self, request: QueryRequest, principal: Principal, error: Exception
    ) -> None:
        """Records a request that is not a valid question, such as one about a hidden database."""
        question = Question(
            request.question,
            request.database or "",
            principal,
            k=1,
            seed=0,
            max_rows=1,
            session=request.session or "",
        )
        await self._write_error(Account(question), error)

    async def _write_error(self, account: Account, error: BaseException) -> None:
        """As ``_write``, but does not hide the error that is being raised."""
        try:
            # In a task, because a cancelled question is recorded too.
            await asyncio.shield(asyncio.create_task(self._write(account, error)))
        except Unavailable as problem:
            name = account.question.principal.name
            _LOG.error("a question of %s was not recorded: %s", name, problem)

    async def _write(self, account: Account, outcome: Answer | BaseException) -> None:
        if self._log is not None:
            await self._log.add(_build_entry(account, outcome))


def _build_entry(account: Account, outcome: Answer | BaseException) -> AuditEntry:
    """The entry of a question that ended now with an answer or an error."""
    question = account.question
    ran = [
        (assessment, assessment.verdict)
        for assessment in (account.ranking.assessments if account.ranking else ())
        if isinstance(assessment.verdict, GuardedQuery) and _has_run(assessment)
    ]
    chosen = [guarded for assessment, guarded in ran if assessment.candidate.sql == account.sql]
    name, code = name_outcome(outcome)
    return AuditEntry(
        asked_at=account.started,
        principal=question.principal.name,
        key=question.principal.access.key,
        database=question.database,
        session=question.session,
        question=question.text,
        outcome=name,
        code=code,
        sql=chosen[0].sql if chosen else "",
        predicates=list(chosen[0].predicates) if chosen else [],
        tables=list(chosen[0].tables) if chosen else [],
        executed=[guarded.sql for _, guarded in ran],
        row_count=account.rows,
        ms=(datetime.now(UTC) - account.started).total_seconds() * 1000,
    )


def _has_run(assessment: Assessment) -> bool:
    """Whether the database began to execute the query, instead of only planning it."""
    is_planned = assessment.explained is not None
    return assessment.result is not None or (is_planned and assessment.diagnostic is not None)
