"""Holds principals to their limits: requests a minute, questions at once, tokens and rows a day."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Literal, cast

from nl2sql.errors import LimitReached, Unavailable
from nl2sql.settings.identity import IdentitySettings
from nl2sql.types import Principal, UsageLimits
from retrieval.index_store.usage_store import (
    Exceeded,
    QuestionLease,
    RequestCount,
    UsageStore,
)
from serve_app.service.account import Account

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
class RequestUsage:
    """What a request leaves of the limits, for the headers of its response."""

    limits: UsageLimits
    count: RequestCount

    @property
    def is_exceeded(self) -> bool:
        """Whether the request is one too many."""
        most = self.limits.requests_per_minute
        return bool(most) and self.count.requests > (most or 0)

    def describe(self) -> dict[str, str]:
        """The headers ``x-ratelimit-…``, only for limits that are set."""
        headers: dict[str, str] = {}
        for name, most, used, ends_s in (
            (
                "requests",
                self.limits.requests_per_minute,
                self.count.requests,
                self.count.minute_ends_s,
            ),
            ("tokens", self.limits.tokens_per_day, self.count.tokens, self.count.day_ends_s),
        ):
            if most:
                headers[f"x-ratelimit-limit-{name}"] = str(most)
                headers[f"x-ratelimit-remaining-{name}"] = str(max(most - used, 0))
                headers[f"x-ratelimit-reset-{name}"] = f"{math.ceil(ends_s)}s"
        return headers


@dataclass(frozen=True, slots=True)
class UsedLimit:
    """A limit that is set, and what of it is used; ``resets_in_s``: when the count restarts."""

    name: LimitName
    most: int
    used: int
    resets_in_s: float | None


class UsageMeter:
    """Counts what principals use and refuses more than their limits allow.

    Counts nothing for a principal without limits.
    """

    def __init__(
        self,
        store: UsageStore,
        settings: IdentitySettings,
        *,
        question_timeout_s: float,
        unanswered_tokens: int,
    ) -> None:
        """``unanswered_tokens`` count for a question that was cancelled or failed.

        Otherwise a caller could use the model without limit by leaving before the answer.
        """
        self._store = store
        self._unanswered_tokens = unanswered_tokens
        self._settings = settings
        self._lease_s = question_timeout_s + _LEASE_SPARE_S

    async def count_request(self, principal: Principal) -> RequestUsage | None:
        """Counts a request; None if neither requests nor tokens are limited.

        Raises Unavailable: what cannot be counted is not allowed.
        """
        limits = self._settings.find_limits(principal)
        if not (limits.requests_per_minute or limits.tokens_per_day):
            return None
        return RequestUsage(limits, await self._store.count_request(principal.name))

    async def read(self, principal: Principal) -> tuple[UsedLimit, ...]:
        """A principal's limits and what of them is used; counts nothing. Raises Unavailable."""
        limits = self._settings.find_limits(principal)
        if not any(getattr(limits, name) for name in _MESSAGES):
            return ()
        counts = await self._store.read(principal.name)
        used: tuple[tuple[LimitName, int, float | None], ...] = (
            ("requests_per_minute", counts.requests, counts.minute_ends_s),
            ("questions_at_once", counts.questions, None),
            ("tokens_per_day", counts.tokens, counts.day_ends_s),
            ("rows_per_day", counts.rows, counts.day_ends_s),
        )
        return tuple(
            UsedLimit(name, most, count, resets_in_s)
            for name, count, resets_in_s in used
            if (most := getattr(limits, name))
        )

    def build_error(self, principal: Principal, usage: RequestUsage) -> LimitReached:
        """The error for a request too many."""
        refusal = Exceeded("requests_per_minute", usage.count.minute_ends_s)
        return _build_error(principal, usage.limits, refusal)

    @asynccontextmanager
    async def measure(self, account: Account) -> AsyncIterator[None]:
        """Reserves what the question may use, and counts what it used at the end of the block.

        Raises LimitReached, Unavailable.
        """
        question = account.question
        limits = self._settings.find_limits(question.principal)
        if not (limits.questions_at_once or limits.tokens_per_day or limits.rows_per_day):
            yield
            return
        lease = await self._store.begin_question(
            question.principal.name, limits, rows=question.max_rows, lease_s=self._lease_s
        )
        if isinstance(lease, Exceeded):
            raise _build_error(question.principal, limits, lease)
        if lease.rows is not None:
            account.question = replace(question, max_rows=lease.rows)
        account.tokens = self._unanswered_tokens
        try:
            yield
        finally:
            # In a task, because a cancelled question must be counted and its lease returned.
            task = asyncio.create_task(self._end(lease, account))
            await asyncio.shield(task)

    async def _end(self, lease: QuestionLease, account: Account) -> None:
        try:
            await self._store.end_question(lease, tokens=account.tokens, rows=account.rows or 0)
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
