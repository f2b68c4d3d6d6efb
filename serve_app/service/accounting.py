"""Around each question: the principal's limits before it, the audit log after it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from nl2sql.answers import Answer, Answered, Trace
from nl2sql.errors import Unavailable
from nl2sql.protocols import Observer
from nl2sql.types import Principal, Question, ResultSet
from quorumsql.contract import QueryRequest
from retrieval.index_store.audit_store import AuditStore
from serve_app.service.account import Account
from serve_app.service.audit import build_entry
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
            await self._log.add(build_entry(account, outcome))
