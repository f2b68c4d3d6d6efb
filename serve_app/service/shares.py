"""``/shares``: links to a query, which each reader runs as themselves.

The query of a share is guarded for whoever opens it. Who may not run it sees nothing of the share:
neither the query nor the question, which may name the same things. Knows nothing of FastAPI.
"""

from __future__ import annotations

import time
from datetime import timedelta

from nl2sql.concurrency import gather_all
from nl2sql.cursors import read_time_cursor, write_cursor
from nl2sql.errors import InvalidRequest
from nl2sql.protocols import Guard
from nl2sql.rendering import copy_fields
from nl2sql.settings import Settings
from nl2sql.types import NOT_PERMITTED, Principal, Question, Violation
from quorumsql.contract.history import (
    OwnShareResponse,
    OwnSharesResponse,
    SharedResponse,
    ShareRequest,
    ShareResponse,
)
from retrieval.conversations import identify_owner
from retrieval.index_store.conversation_store import Share, ShareStore
from serve_app.service.history import render_time
from serve_app.service.operations import Operations, Refusal
from serve_app.service.request_checks import Missing, check_filled

_LONGEST_QUERY = 20_000
_LONGEST_ID = 64
_PRUNE_INTERVAL_S = 3600.0
_REFUSED = Refusal(NOT_PERMITTED, "You may not run the query that was shared.")


class ShareService:
    """Makes, opens and ends shares. All methods raise Unavailable."""

    def __init__(
        self,
        settings: Settings,
        store: ShareStore,
        guard: Guard,
        operations: Operations,
    ) -> None:
        self._settings = settings
        self._store = store
        self._guard = guard
        self._operations = operations
        self._pruned_at = -float("inf")

    async def add(self, request: ShareRequest, principal: Principal) -> SharedResponse:
        """Shares a query that the principal may run.

        Raises InvalidRequest, also for one that it may not; Missing, UnknownDatabase, PolicyError.
        """
        text = check_filled("question", request.question, self._settings.limits.question_chars)
        sql = check_filled("sql", request.sql, _LONGEST_QUERY)

        async def add(question: Question) -> str:
            verdict = await self._guard.guard(question.database, sql, principal)
            if isinstance(verdict, Violation):
                raise InvalidRequest(verdict.message, field="sql")
            await self._prune()
            return await self._store.add(
                principal.name, question.database, text, sql, owner=identify_owner(principal)
            )

        question = self._operations.build_question(f"share: {sql}", request.database, principal)
        return SharedResponse(id=await self._operations.record(question, add))

    async def open(self, id_: str, principal: Principal) -> ShareResponse | Refusal:
        """The share, if the principal may run its query.

        Raises Missing, also for a share of a database that the principal may not ask.
        """
        found = await self._store.find(_check_id(id_), days=self._settings.sessions.share_days)
        if found is None or found.database not in self._settings.database_names(principal):
            raise Missing("There is no such share.", field="id")

        async def guard(_: Question) -> Share | Refusal:
            verdict = await self._guard.guard(found.database, found.sql, principal)
            return _REFUSED if isinstance(verdict, Violation) else found

        question = self._operations.name_question(f"open_share: {id_}", principal, found.database)
        share = await self._operations.record(question, guard)
        if isinstance(share, Refusal):
            return share
        return copy_fields(ShareResponse, share, shared_at=render_time(share.shared_at))

    async def list_own(self, principal: Principal, *, after: str, most: int) -> OwnSharesResponse:
        """A page of the principal's own shares. Raises InvalidRequest, PolicyError.

        One whose query it may not run any more is listed without its question, to be ended.
        """
        before = read_time_cursor(after)
        days = self._settings.sessions.share_days

        async def find(_: Question) -> tuple[list[Share], list[bool]]:
            found = await self._store.list_latest(
                identify_owner(principal), days=days, most=most + 1, before=before
            )
            shown = found[:most]
            return found, list(
                await gather_all(self._is_withheld(each, principal) for each in shown)
            )

        question = self._operations.name_question("list_shares", principal)
        found, withheld = await self._operations.record(question, find)
        last = found[most - 1] if len(found) > most else None
        return OwnSharesResponse(
            shares=[
                copy_fields(
                    OwnShareResponse,
                    share,
                    question="" if is_withheld else share.question,
                    shared_at=render_time(share.shared_at),
                    ends_at=render_time(share.shared_at + timedelta(days=days)) if days else None,
                    is_withheld=is_withheld,
                )
                for share, is_withheld in zip(found, withheld, strict=False)
            ],
            next=write_cursor(last.shared_at.isoformat(), last.id) if last else None,
        )

    async def _is_withheld(self, share: Share, principal: Principal) -> bool:
        if share.database not in self._settings.database_names(principal):
            return True
        verdict = await self._guard.guard(share.database, share.sql, principal)
        return isinstance(verdict, Violation)

    async def delete(self, id_: str, principal: Principal) -> None:
        """Ends a share of the principal's own. Raises Missing, also for another's."""
        _check_id(id_)

        async def delete(_: Question) -> bool:
            return await self._store.delete(id_, identify_owner(principal))

        question = self._operations.name_question(f"delete_share: {id_}", principal)
        if not await self._operations.record(question, delete):
            raise Missing("You have no such share.", field="id")

    async def _prune(self) -> None:
        days = self._settings.sessions.share_days
        if days and time.monotonic() - self._pruned_at >= _PRUNE_INTERVAL_S:
            self._pruned_at = time.monotonic()
            await self._store.prune(days)


def _check_id(id_: str) -> str:
    if len(id_) > _LONGEST_ID or not id_.isascii() or not id_.isprintable():
        raise Missing("There is no such share.", field="id")
    return id_
