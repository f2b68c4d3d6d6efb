"""Holds principals to their limits: requests a minute, questions at once, tokens and rows a day."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal, cast

from nl2sql.errors import LimitReached, Unavailable
from nl2sql.types import Principal, UsageLimits
from quorumsql.contract.identity import LimitResponse
from retrieval.index_store.usage_store import Exceeded, QuestionLease, UsageStore
from serve_app.service.account import Account
from serve_app.settings.identity import IdentitySettings

_LOG = logging.getLogger("quorumsql")
# A question whose service died counts for so much longer than a question may take.
_LEASE_SPARE_S = 30.0

LimitName = Literal["requests_per_minute", "questions_at_once", "tokens_per_day", "rows_per_day"]

_MESSAGES: dict[LimitName, str] = {
    "requests_per_minute": "{name} may send {most} requests in a minute.",
    "questions_at_once": "{name} may have {most} questions answered at a time.",
    "tokens_per_day": "{name} may use {most} tokens of the language model on a day (UTC).",
    "rows_per_day": "{name} may receive {most} rows on a day (UTC).",
}


@dataclass(frozen=True, slots=True)
class UsageMeter:
    """Counts what principals use and refuses more than their limits allow.

    Counts nothing for a principal without limits. ``unanswered_tokens`` count for a question that
    was cancelled or failed: otherwise a caller could use the model without limit by leaving before
    the answer.
    """

    store: UsageStore
    settings: IdentitySettings
    _: KW_ONLY
    question_timeout_s: float
    unanswered_tokens: int

    async def count_request(self, principal: Principal) -> None:
        """Counts a request, if requests are limited.

        Raises LimitReached if it is one too many; Unavailable: what cannot be counted is not
        allowed.
        """
        limits = self.settings.find_limits(principal)
        if not limits.requests_per_minute:
            return
        requests, minute_ends_s = await self.store.count_request(principal.name)
        if requests > limits.requests_per_minute:
            exceeded = Exceeded("requests_per_minute", minute_ends_s)
            raise _build_error(principal, limits, exceeded)

    async def read(self, principal: Principal) -> list[LimitResponse]:
        """A principal's limits and what of them is used; counts nothing. Raises Unavailable."""
        limits = self.settings.find_limits(principal)
        if not any(getattr(limits, name) for name in _MESSAGES):
            return []
        counts = await self.store.read(principal.name)
        used: tuple[tuple[LimitName, int, float | None], ...] = (
            ("requests_per_minute", counts.requests, counts.minute_ends_s),
            ("questions_at_once", counts.questions, None),
            ("tokens_per_day", counts.tokens, counts.day_ends_s),
            ("rows_per_day", counts.rows, counts.day_ends_s),
        )
        return [
            LimitResponse(name=name, most=most, used=count, resets_in_s=resets_in_s)
            for name, count, resets_in_s in used
            if (most := getattr(limits, name))
        ]

    @asynccontextmanager
    async def measure(self, account: Account) -> AsyncIterator[None]:
        """Reserves what the question may use, and counts what it used at the end of the block.

        Raises LimitReached, Unavailable.
        """
        question = account.question
        limits = self.settings.find_limits(question.principal)
        if not (limits.questions_at_once or limits.tokens_per_day or limits.rows_per_day):
            yield
            return
        lease = await self.store.begin_question(
            question.principal.name,
            limits,
            rows=question.max_rows,
            lease_s=self.question_timeout_s + _LEASE_SPARE_S,
        )
        if isinstance(lease, Exceeded):
            raise _build_error(question.principal, limits, lease)
        if lease.rows is not None:
            account.question = replace(question, max_rows=lease.rows)
        account.tokens = self.unanswered_tokens
        try:
            yield
        finally:
            # In a task, because a cancelled question must be counted and its lease returned.
            task = asyncio.create_task(self._end(lease, account))
            await asyncio.shield(task)

    async def _end(self, lease: QuestionLease, account: Account) -> None:
        try:
            await self.store.end_question(lease, tokens=account.tokens, rows=account.rows or 0)
        except Unavailable as error:
            # The reserved rows stay counted, and the lease expires.
            _LOG.error("usage of %s was not counted: %s", lease.principal, error)


def _build_error(principal: Principal, limits: UsageLimits, refusal: Exceeded) -> LimitReached:
    most = getattr(limits, refusal.limit)
    return LimitReached(
        _MESSAGES[cast(LimitName, refusal.limit)].format(name=principal.name, most=f"{most:,}"),
        retry_after_s=refusal.retry_after_s,
        hint=f"Try again in {math.ceil(refusal.retry_after_s)} seconds.",
    )
