"""Feedback as reviewers work through it: listed, marked as done, and taken back.

A reviewer is shown only feedback whose queries it may run itself. Knows nothing of FastAPI.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from nl2sql.errors import Forbidden
from nl2sql.protocols import Guard
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import Principal
from quorumsql.contract.feedback import ReviewResponse, VerifiedSourceResponse
from retrieval.conversations import find_refused, identify_owner
from retrieval.cursors import Id, Moment, read_cursor, write_cursor
from retrieval.examples.feedback import FeedbackRecorder
from retrieval.index_store.example_store import ExampleStore, build_access_key
from retrieval.index_store.feedback_store import Feedback, FeedbackNote, FeedbackStore
from serve_app.service.accounting import Accounting
from serve_app.service.request_checks import NotFound
from serve_app.service.review_entries import pair_sources, render_entry, render_source
from serve_app.service.rights import may_review
from serve_app.settings import Settings

# The gravity, time and id of an entry.
_SORT_KEY = TypeAdapter(tuple[Annotated[int, Field(ge=0, le=2)], Moment, Id])
# Entries that are read and guarded for one page.
_MOST_READ = 200
_LONGEST_ID = 64


@dataclass(frozen=True, slots=True)
class ReviewService:
    """Lists feedback, marks it as done, takes it back. All methods raise Unavailable."""

    settings: Settings
    store: FeedbackStore
    guard: Guard
    accounting: Accounting
    taker: FeedbackRecorder
    examples: ExampleStore

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
        """A page of feedback, and of the principal's own questions that were asked back.

        What is open is in the order of its gravity, then the latest first. Raises Forbidden,
        InvalidRequest, UnknownDatabase.
        """
        self._check_right(principal)
        names = self.settings.database_names(principal)
        if database:
            names = (self.settings.database_name(database, principal),)

        async with self.accounting.note("list_feedback", principal, database or ""):
            read = partial(
                self.store.list_worst,
                names,
                principal,
                owner=identify_owner(principal),
                days=self.settings.sessions.history_days,
                is_right=verdict == "right",
                is_done=state == "done",
                most=most,
            )
            entries, following = await self._find(read, principal, after, most)
            sources = await self._find_sources(entries, principal)
        # One job for each: between them the thread reads the queries of other requests.
        rendered = [
            await run_in_parser_thread(render_entry, entry, self.settings, sources.get(entry.id))
            for entry in entries
        ]
        return ReviewResponse(entries=rendered, next=following or None)

    async def close(self, id_: str, principal: Principal) -> None:
        """Marks an entry as done.

        Raises Forbidden; NotFound for one that the reviewer is not shown.
        """
        self._check_right(principal)

        async with self.accounting.note(f"close_feedback: {id_}", principal):
            await self._find_shown(id_, principal)
            await self.store.close(id_, principal.name)

    async def close_corrected(self, note: FeedbackNote, feedback: Feedback) -> None:
        """Marks as done what the correction of the note makes needless to look at again.

        A reviewer's does so for everybody's feedback, if the reviewer may run the wrong query too.
        """
        is_shown = feedback.is_reviewed and all(await self._judge([note], feedback.principal))
        await self.store.close_corrected(note.id, all_givers=is_shown)

    async def withdraw(self, id_: str, principal: Principal) -> None:
        """Takes back feedback that the principal gave, or is shown as a reviewer.

        Raises NotFound for any other.
        """
        async with self.accounting.note(f"withdraw_feedback: {id_}", principal):
            note = await self._load(id_)
            # A name alone is not a person: somebody with other rights may bear it later.
            given = (note.given_by, note.access) == (principal.name, build_access_key(principal))
            if not given:
                if not may_review(self.settings, principal):
                    raise _build_missing()
                await self._check_shown(note, principal)
            await self.taker.withdraw(note)

    async def find(self, id_: str, principal: Principal) -> FeedbackNote:
        """The entry of that id. Raises Forbidden; NotFound as ``close`` does."""
        self._check_right(principal)
        return await self._find_shown(id_, principal)

    async def _find(
        self,
        read: Callable[..., Awaitable[list[FeedbackNote]]],
        principal: Principal,
        after: str,
        most: int,
    ) -> tuple[list[FeedbackNote], str]:
        """The entries of a page, and the cursor of the next one."""
        shown: list[FeedbackNote] = []
        before, count = read_cursor(after, _SORT_KEY), 0
        while count < _MOST_READ:
            found = await read(before=before)
            count += len(found)
            for entry, passes in zip(found, await self._judge(found, principal), strict=True):
                before = (entry.gravity, entry.given_at, entry.id)
                if passes:
                    shown.append(entry)
                if len(shown) == most:
                    return shown, _write(entry)
            if len(found) < most:
                return shown, ""
        return shown, _write(found[-1])

    async def _find_sources(
        self, entries: Sequence[FeedbackNote], reviewer: Principal
    ) -> dict[str, VerifiedSourceResponse]:
        """By the id of an entry: the verified query that gave the wrong answer, or is right."""
        judged = [each for each in entries if each.kind != "asked_back"]
        sources: dict[str, VerifiedSourceResponse] = {}
        for database in {each.database for each in judged}:
            dialect = self.settings.by_name[database].dialect
            examples = [
                each
                for each in await self.examples.list_examples(database)
                if not each.roles or set(each.roles).intersection(reviewer.roles)
            ]
            given = await run_in_parser_thread(pair_sources, judged, database, examples, dialect)
            queries = {(database, example.sql) for example in given.values()}
            refused = await find_refused(self.guard, queries, reviewer)
            notes = await self.store.list_all(database) if given else []
            for id_, example in given.items():
                if (database, example.sql) not in refused:
                    sources[id_] = await run_in_parser_thread(
                        render_source, example, notes, dialect
                    )
        return sources

    async def _find_shown(self, id_: str, reviewer: Principal) -> FeedbackNote:
        """The entry, if the reviewer may run its queries. Raises NotFound."""
        found = await self._load(id_)
        await self._check_shown(found, reviewer)
        return found

    async def _load(self, id_: str) -> FeedbackNote:
        is_id = len(id_) <= _LONGEST_ID and id_.isascii() and id_.isprintable()
        note = await self.store.find(id_) if is_id else None
        if note is None:
            raise _build_missing()
        return note

    async def _check_shown(self, note: FeedbackNote, reviewer: Principal) -> None:
        if note.database not in self.settings.database_names(reviewer):
            raise _build_missing()
        if not all(await self._judge([note], reviewer)):
            raise _build_missing()

    def _check_right(self, principal: Principal) -> None:
        if not may_review(self.settings, principal):
            raise Forbidden(
                "You may not review answers.", hint="page.review_roles names the roles that may."
            )

    async def _judge(self, entries: list[FeedbackNote], principal: Principal) -> list[bool]:
        """Whether the principal may run the queries of each entry; one may have none."""
        queries = [
            {(each.database, sql) for sql in (each.sql, each.correction) if sql} for each in entries
        ]
        refused = await find_refused(self.guard, set().union(*queries), principal)
        return [refused.isdisjoint(each) for each in queries]


def _build_missing() -> NotFound:
    return NotFound("There is no such feedback.", field="id")


def _write(entry: FeedbackNote) -> str:
    return write_cursor(entry.gravity, entry.given_at, entry.id)
