"""Feedback: checked and passed on, listed for reviewers, and taken back.

A reviewer is shown only feedback whose queries it may run itself. Knows nothing of FastAPI.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter
from sqlglot.errors import SqlglotError

from evaluation.metrics.query_gaps import GapKind, find_gap, write_condition
from nl2sql.deadline import ending_in
from nl2sql.errors import DeadlineExceeded, Forbidden, InvalidRequest
from nl2sql.expectations.said_texts import list_numbers
from nl2sql.protocols import Guard
from nl2sql.sql.threads import run_in_parser_thread
from nl2sql.types import Principal
from nl2sql.words import content_words, split_words
from quorumsql.contract import FeedbackRequest, FeedbackResponse
from quorumsql.contract.feedback import (
    ParameterResponse,
    ReviewEntryResponse,
    ReviewResponse,
    VerifiedSourceResponse,
    WithheldResponse,
)
from retrieval.conversations import find_refused, identify_owner
from retrieval.cursors import Id, Moment, read_cursor, write_cursor
from retrieval.examples.feedback import FeedbackReceipt, FeedbackRecorder, FeedbackWithdrawal
from retrieval.examples.pairs import compile_query, read_pattern
from retrieval.examples.records import MOST_CHARS
from retrieval.index_store.example_store import (
    ExampleStore,
    VerifiedExample,
    build_access_key,
    fold_question,
)
from retrieval.index_store.feedback_store import Feedback, FeedbackNote, FeedbackStore, build_note
from serve_app.service.accounting import Accounting
from serve_app.service.admission import AdmissionController
from serve_app.service.history import render_time
from serve_app.service.rendering import copy_fields
from serve_app.service.request_checks import MOST_QUESTION_CHARS, NotFound, check_filled
from serve_app.service.rights import may_review
from serve_app.settings import Settings

# The gravity, time and id of an entry.
_SORT_KEY = TypeAdapter(tuple[Annotated[int, Field(ge=0, le=2)], Moment, Id])


@dataclass(frozen=True, slots=True)
class FeedbackService:
    """Checks feedback against the limits and passes it on.

    ``reviews``: where a correction closes what was said of the same answer before.
    """

    settings: Settings
    taker: FeedbackRecorder
    admission: AdmissionController
    reviews: FeedbackStore | None = None

    async def take(self, request: FeedbackRequest, principal: Principal) -> FeedbackResponse:
        """Records the feedback and returns its outcome.

        Raises InvalidRequest, also for a query that is not allowed to the principal or fails;
        UnknownDatabase, Unavailable, DeadlineExceeded.
        """
        feedback = build_feedback(request, self.settings, principal)
        seconds = self.settings.limits.request_timeout_ms / 1000
        try:
            async with ending_in(seconds), self.admission.take(principal.name):
                receipt = await self.taker.take_feedback(feedback)
        except DeadlineExceeded as error:
            raise DeadlineExceeded(
                f"The feedback was not stored within {seconds:.0f} seconds.", hint="Send it again."
            ) from error
        id_ = build_note(feedback, datetime.now(UTC)).id
        if self.reviews and feedback.correction and receipt.outcome != "refused":
            # What a reviewer corrects needs nobody to look at it again.
            is_reviewer = may_review(self.settings, principal)
            await self.reviews.close_corrected(id_, all_givers=is_reviewer)
        field = "correction" if feedback.correction else "sql"
        return _render_receipt(
            receipt, id_, field, self.settings.by_name[feedback.database].dialect
        )


def build_feedback(request: FeedbackRequest, settings: Settings, principal: Principal) -> Feedback:
    """Checks the request and fills in defaults. Raises InvalidRequest."""
    most = min(MOST_QUESTION_CHARS, MOST_CHARS)
    correction = request.correction or ""
    if request.parameters and not may_review(settings, principal):
        raise InvalidRequest("Only reviewers give queries parameters.", field="parameters")
    if correction and request.verdict == "right":
        raise InvalidRequest("A right query needs no correction.", field="correction")
    return Feedback(
        database=settings.database_name(request.database, principal),
        question=check_filled("question", request.question, most),
        sql=check_filled("sql", request.sql, MOST_CHARS),
        is_right=request.verdict == "right",
        principal=principal,
        correction=check_filled("correction", correction, MOST_CHARS) if correction else "",
        is_reviewed=may_review(settings, principal),
        parameters=None if request.parameters is None else tuple(request.parameters),
    )


def _render_receipt(
    receipt: FeedbackReceipt, id_: str, field: str, dialect: str
) -> FeedbackResponse:
    if receipt.outcome == "refused":
        raise InvalidRequest(f"It cannot become an example: {receipt.reason}", field=field)
    proposed = [
        ParameterResponse(
            name=each.name,
            phrase=each.phrase,
            type=each.parameter.type,
            column=each.parameter.column,
            literal=each.parameter.build_literal(each.parameter.default, dialect).sql(dialect),
            chosen=each.name in receipt.chosen,
        )
        for each in receipt.proposed.offered
    ]
    return FeedbackResponse(
        outcome=receipt.outcome,
        example=receipt.example,
        id=id_,
        parameters=proposed,
        withheld=[
            WithheldResponse(literal=literal, reason=reason)
            for literal, reason in receipt.proposed.withheld
        ],
        marked=receipt.marked.sql if receipt.marked else "",
    )


# Entries that are read and guarded for one page.
_MOST_READ = 200
_LONGEST_ID = 64
_FIXES: dict[GapKind, str] = {
    "table": "Add a word of the question to the synonyms of the table {names}. {index}",
    "value": "Add what the question says to the synonyms of the value {names}. {index} "
    "A definition of these words does the same, and can.",
    "definition": "Define the word of the question that means {names}.",
    "other": "Save the right query: it becomes an example.",
}
_INDEX = (
    "Synonyms are part of the index, so they cannot be tried here: write it into {file}, then "
    "`quorumsql index build {source}`."
)


@dataclass(frozen=True, slots=True)
class ReviewService:
    """Lists feedback, marks it as done, takes it back. All methods raise Unavailable."""

    settings: Settings
    store: FeedbackStore
    guard: Guard
    accounting: Accounting
    withdrawal: FeedbackWithdrawal
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

        async with self.accounting.record(
            "list_feedback", database or "", principal, is_limited=False
        ):
            entries, following = await self._find(
                names,
                principal,
                is_right=verdict == "right",
                is_done=state == "done",
                after=after,
                most=most,
            )
            sources = await self._find_sources(entries, principal)
        rendered = await run_in_parser_thread(
            lambda: [
                _render_entry(entry, self.settings, sources.get(entry.id)) for entry in entries
            ]
        )
        return ReviewResponse(entries=rendered, next=following or None)

    async def close(self, id_: str, principal: Principal) -> None:
        """Marks an entry as done.

        Raises Forbidden; NotFound for one that the reviewer is not shown.
        """
        self._check_right(principal)

        async with self.record(f"close_feedback: {id_}", principal):
            await self._find_shown(id_, principal)
            await self.store.close(id_, principal.name)

    async def withdraw(self, id_: str, principal: Principal) -> None:
        """Takes back feedback that the principal gave, or is shown as a reviewer.

        Raises NotFound for any other.
        """
        async with self.record(f"withdraw_feedback: {id_}", principal):
            note = await self.store.find(id_) if _is_id(id_) else None
            if note is None:
                raise _build_missing()
            # A name alone is not a person: somebody with other rights may bear it later.
            given = (note.given_by, note.access) == (principal.name, build_access_key(principal))
            if not given:
                if not may_review(self.settings, principal):
                    raise _build_missing()
                await self._find_shown(id_, principal)
            await self.withdrawal.withdraw(note)

    async def find(self, id_: str, principal: Principal) -> FeedbackNote:
        """The entry of that id. Raises Forbidden; NotFound as ``close`` does."""
        self._check_right(principal)
        return await self._find_shown(id_, principal)

    def record(self, text: str, principal: Principal) -> AbstractAsyncContextManager[None]:
        """Records what is done with an entry; it counts towards no limit."""
        return self.accounting.record(text, "", principal, is_limited=False)

    async def _find(
        self,
        names: tuple[str, ...],
        principal: Principal,
        *,
        is_right: bool,
        is_done: bool,
        after: str,
        most: int,
    ) -> tuple[list[FeedbackNote], str]:
        """The entries of a page, and the cursor of the next one."""
        shown: list[FeedbackNote] = []
        before, read = read_cursor(after, _SORT_KEY), 0
        while read < _MOST_READ:
            found = await self.store.list_worst(
                names,
                principal,
                owner=identify_owner(principal),
                days=self.settings.sessions.history_days,
                is_right=is_right,
                is_done=is_done,
                before=before,
                most=most,
            )
            read += len(found)
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
        """By the id of a wrong answer: the verified query that gave it, if one did."""
        wrong = [each for each in entries if each.kind in ("wrong", "corrected")]
        sources: dict[str, VerifiedSourceResponse] = {}
        for database in {each.database for each in wrong}:
            dialect = self.settings.by_name[database].dialect
            examples = [
                each
                for each in await self.examples.list_examples(database)
                if not each.roles or set(each.roles).intersection(reviewer.roles)
            ]
            given = await run_in_parser_thread(_pair, wrong, database, examples, dialect)
            queries = {(database, example.sql) for example in given.values()}
            refused = await find_refused(self.guard, queries, reviewer)
            notes = await self.store.list_all(database) if given else []
            for id_, example in given.items():
                if (database, example.sql) not in refused:
                    sources[id_] = _render_source(example, notes)
        return sources

    async def _find_shown(self, id_: str, reviewer: Principal) -> FeedbackNote:
        """The entry, if the reviewer may run its queries. Raises NotFound."""
        found = await self.store.find(id_) if _is_id(id_) else None
        if found is None or found.database not in self.settings.database_names(reviewer):
            raise _build_missing()
        if not (await self._judge([found], reviewer))[0]:
            raise _build_missing()
        return found

    def _check_right(self, principal: Principal) -> None:
        if not may_review(self.settings, principal):
            raise Forbidden(
                "You may not review answers.", hint="page.review_roles names the roles that may."
            )

    async def _judge(self, entries: list[FeedbackNote], principal: Principal) -> list[bool]:
        """Whether the principal may run the queries of each entry."""
        queries = {
            (entry.database, sql)
            for entry in entries
            for sql in (entry.sql, entry.correction)
            if sql
        }
        refused = await find_refused(self.guard, queries, principal)
        return [
            (entry.database, entry.sql) not in refused
            and (entry.database, entry.correction) not in refused
            for entry in entries
        ]


def _build_missing() -> NotFound:
    return NotFound("There is no such feedback.", field="id")


def _is_id(id_: str) -> bool:
    return len(id_) <= _LONGEST_ID and id_.isascii() and id_.isprintable()


def _write(entry: FeedbackNote) -> str:
    return write_cursor(entry.gravity, entry.given_at, entry.id)


def _pair(
    entries: Sequence[FeedbackNote],
    database: str,
    examples: Sequence[VerifiedExample],
    dialect: str,
) -> dict[str, VerifiedExample]:
    """The id of each of the database's entries that an example answered → the latest such one."""
    return {
        entry.id: example
        for example in examples
        for entry in entries
        if entry.database == database and _gives(example, entry, dialect)
    }


def _gives(example: VerifiedExample, entry: FeedbackNote, dialect: str) -> bool:
    if not example.pattern:
        is_same = fold_question(example.question) == fold_question(entry.question)
        return is_same and example.sql == entry.sql
    try:
        return compile_query(example.pattern, dialect).fullmatch(entry.sql) is not None
    except (ValueError, SqlglotError, RecursionError):
        return False


def _render_source(
    example: VerifiedExample, notes: Sequence[FeedbackNote]
) -> VerifiedSourceResponse:
    """With the latest feedback that gave it, of which it is."""
    own = [
        note.id
        for note in notes
        if (note.given_by, note.access) == (example.given_by, example.access)
        and note.right_sql
        and fold_question(note.question) == fold_question(example.question)
    ]
    return VerifiedSourceResponse(
        # Without the values that its reviewer had in mind.
        question=read_pattern(example.pattern).question if example.pattern else example.question,
        given_by=example.given_by,
        given_at=render_time(example.created_at),
        example=example.id,
        feedback=own[-1] if own and example.source == "feedback" else "",
    )


def _render_entry(
    entry: FeedbackNote, settings: Settings, verified: VerifiedSourceResponse | None
) -> ReviewEntryResponse:
    return copy_fields(
        ReviewEntryResponse,
        entry,
        given_at=render_time(entry.given_at),
        state="done" if entry.reviewed_by else "open",
        corrected_by=_name_corrector(entry),
        verified=verified,
        **_find_cause(entry, settings),
    )


def _find_cause(entry: FeedbackNote, settings: Settings) -> dict[str, str]:
    """The ``cause`` and the ``fix`` of a wrong answer.

    The queries show the cause: what the correction has and ``sql`` has not. Without one only a
    figure of the question can be missing. Of what was asked back, no reading is known to be right.
    """
    if entry.kind == "right":
        return {}
    if entry.kind == "corrected":
        database = settings.by_name[entry.database]
        gap = find_gap(entry.correction, [entry.sql], entry.question, database.dialect)
        source = settings.source_of(entry.database)
        file = f"`{database.synonyms or f'databases.{source}.synonyms'}`"
        index = _INDEX.format(file=file, source=source)
        fix = _FIXES[gap.kind].format(names=", ".join(gap.names), index=index)
        condition = write_condition(entry.correction, gap.names, database.dialect)
        named = {"name": _find_name(entry), "expression": condition} if condition else {}
        return {"cause": gap.kind, "fix": fix, **named}
    absent = ", ".join(each for each in list_numbers(entry.question) if each not in entry.sql)
    if absent and entry.kind == "wrong":
        return {"cause": "value", "fix": f"The query lacks {absent}: correct it."}
    return {"fix": _FIXES["other"]}


def _find_name(entry: FeedbackNote) -> str:
    """The words of the question that are no words of its queries."""
    known = set(split_words(f"{entry.sql} {entry.correction}"))
    return " ".join(
        word
        for word in re.findall(r"[^\W\d_]+", entry.question)
        if not known.issuperset(content_words(word))
    )


def _name_corrector(entry: FeedbackNote) -> str:
    if entry.corrected_with:
        return entry.reviewed_by
    return entry.given_by if entry.correction and entry.outcome != "asked_back" else ""
