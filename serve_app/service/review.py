"""``GET /feedback``: what was said to be wrong, for reviewers; and taking feedback back.

A reviewer is shown only feedback whose queries it may run itself. Knows nothing of FastAPI.
"""

from __future__ import annotations

from typing import Literal

from nl2sql.concurrency import gather_all
from nl2sql.cursors import read_time_cursor, write_cursor
from nl2sql.errors import Forbidden
from nl2sql.protocols import Guard
from nl2sql.rendering import copy_fields
from nl2sql.settings import Settings
from nl2sql.types import Principal, Question, Violation
from quorumsql.contract.feedback import ReviewEntryResponse, ReviewResponse
from retrieval.examples.feedback import FeedbackWithdrawal
from retrieval.index_store.example_store import build_access_key
from retrieval.index_store.feedback_store import FeedbackNote, FeedbackStore
from serve_app.service.accounted_work import AccountedWork
from serve_app.service.history import render_time
from serve_app.service.request_checks import NotFound
from serve_app.service.rights import may_review

# Entries that are read and guarded for one page.
_MOST_READ = 200
_LONGEST_ID = 64


class ReviewService:
    """Lists feedback, marks it as done, takes it back. All methods raise Unavailable."""

    def __init__(
        self,
        settings: Settings,
        store: FeedbackStore,
        guard: Guard,
        work: AccountedWork,
        withdrawal: FeedbackWithdrawal,
    ) -> None:
        self._settings = settings
        self._store = store
        self._withdrawal = withdrawal
        self._guard = guard
        self._work = work

    async def list_entries(
        self,
        principal: Principal,
        *,
        verdict: Literal["right", "wrong"],
        state: Literal["open", "done"],
        database: str | None,
        after: str,
        most: int,
    ) -> ReviewResponse:
        """A page of feedback, the latest first.

        Raises Forbidden, InvalidRequest, UnknownDatabase.
        """
        self._check_right(principal)
        names = self._settings.database_names(principal)
        if database:
            names = (self._settings.database_name(database, principal),)

        async def find(_: Question) -> tuple[list[FeedbackNote], str]:
            shown: list[FeedbackNote] = []
            before, read = read_time_cursor(after), 0
            while read < _MOST_READ:
                found = await self._store.list_latest(
                    names,
                    is_right=verdict == "right",
                    is_done=state == "done",
                    before=before,
                    most=most,
                )
                read += len(found)
                for entry, passes in zip(found, await self._judge(found, principal), strict=True):
                    before = (entry.given_at, entry.id)
                    if passes:
                        shown.append(entry)
                    if len(shown) == most:
                        return shown, _write(entry)
                if len(found) < most:
                    return shown, ""
            return shown, _write(found[-1])

        question = self._work.name_question("list_feedback", principal, database or "")
        entries, following = await self._work.record(question, find)
        return ReviewResponse(entries=[_render(entry) for entry in entries], next=following or None)

    async def close(self, id_: str, principal: Principal) -> None:
        """Marks an entry as done.

        Raises Forbidden; NotFound for one that the reviewer is not shown.
        """
        self._check_right(principal)

        async def close(_: Question) -> bool:
            if not await self._is_shown(id_, principal):
                return False
            await self._store.close(id_, principal.name)
            return True

        question = self._work.name_question(f"close_feedback: {id_}", principal)
        if not await self._work.record(question, close):
            raise NotFound("There is no such feedback.", field="id")

    async def withdraw(self, id_: str, principal: Principal) -> None:
        """Takes back feedback that the principal gave, or is shown as a reviewer.

        Raises NotFound for any other.
        """

        async def withdraw(_: Question) -> bool:
            note = await self._withdrawal.find(id_) if _is_id(id_) else None
            if note is None:
                return False
            # A name alone is not a person: somebody with other rights may bear it later.
            given = (note.given_by, note.access) == (principal.name, build_access_key(principal))
            if not given:
                is_reviewer = may_review(self._settings, principal)
                if not is_reviewer or not await self._is_shown(id_, principal):
                    return False
            await self._withdrawal.withdraw(note)
            return True

        question = self._work.name_question(f"withdraw_feedback: {id_}", principal)
        if not await self._work.record(question, withdraw):
            raise NotFound("There is no such feedback.", field="id")

    async def _is_shown(self, id_: str, reviewer: Principal) -> bool:
        """Whether there is such an entry and the reviewer may run its queries."""
        found = await self._store.find(id_) if _is_id(id_) else None
        if found is None or found.database not in self._settings.database_names(reviewer):
            return False
        return (await self._judge([found], reviewer))[0]

    def _check_right(self, principal: Principal) -> None:
        if not may_review(self._settings, principal):
            raise Forbidden(
                "You may not review answers.", hint="page.review_roles names the roles that may."
            )

    async def _judge(self, entries: list[FeedbackNote], principal: Principal) -> list[bool]:
        """Whether the principal may run the queries of each entry."""
        queries = sorted(
            {
                (entry.database, sql)
                for entry in entries
                for sql in (entry.sql, entry.correction)
                if sql
            }
        )
        verdicts = await gather_all(
            self._guard.guard(database, sql, principal) for database, sql in queries
        )
        refused = {
            query
            for query, verdict in zip(queries, verdicts, strict=True)
            if isinstance(verdict, Violation)
        }
        return [
            (entry.database, entry.sql) not in refused
            and (entry.database, entry.correction) not in refused
            for entry in entries
        ]


def _is_id(id_: str) -> bool:
    return len(id_) <= _LONGEST_ID and id_.isascii() and id_.isprintable()


def _write(entry: FeedbackNote) -> str:
    return write_cursor(entry.given_at.isoformat(), entry.id)


def _render(entry: FeedbackNote) -> ReviewEntryResponse:
    return copy_fields(
        ReviewEntryResponse,
        entry,
        given_at=render_time(entry.given_at),
        state="done" if entry.reviewed_by else "open",
        corrected_by=_name_corrector(entry),
    )


def _name_corrector(entry: FeedbackNote) -> str:
    if entry.corrected_with:
        return entry.reviewed_by
    return entry.given_by if entry.correction else ""
