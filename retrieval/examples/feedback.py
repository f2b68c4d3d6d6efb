"""Feedback on answers: a right answer becomes an example, a wrong one is no longer an example.

Feedback can be withdrawn: the example that it gave goes too, unless other feedback gives it as
well. An example that the feedback had removed is not stored again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from sqlglot.errors import SqlglotError

from nl2sql.errors import UnknownDatabase
from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.threads import run_in_parser_thread
from retrieval.embedding.embedder import Embedder
from retrieval.examples.records import (
    Rejected,
    Verified,
    Verifier,
    build_example,
    identify_example,
    name_vectors,
    strip_sql,
)
from retrieval.index_store.example_store import ExampleStore, fold_question
from retrieval.index_store.feedback_store import (
    Feedback,
    FeedbackNote,
    FeedbackOutcome,
    FeedbackStore,
    build_note,
)
from retrieval.index_store.table_store import IndexConnections


@dataclass(frozen=True, slots=True)
class FeedbackReceipt:
    """The outcome of a feedback.

    The query was ``stored`` as the example with this id, was ``known`` already, was ``removed``
    from the examples, the feedback was only ``recorded``, or it was ``refused``: the principal
    cannot run the query, and ``reason`` says why.
    """

    outcome: FeedbackOutcome
    example: str = ""
    reason: str = ""


class FeedbackRecorder:
    """Records feedback, except on a query that its sender may not run.

    ``dialects`` maps a database's name to its SQL dialect.
    """

    def __init__(
        self,
        index: IndexConnections,
        verifier: Verifier,
        embedder: Embedder,
        dialects: Mapping[str, str],
    ) -> None:
        self._examples = ExampleStore(index)
        self._notes = FeedbackStore(index)
        self._verifier = verifier
        self._embedder = embedder
        self._vectors = name_vectors(embedder.name)
        self._dialects = dict(dialects)

    async def take_feedback(self, feedback: Feedback) -> FeedbackReceipt:
        """Records the feedback and returns its outcome; sending it again changes nothing.

        The query is verified as the sender, and the example belongs to the sender's access: if the
        policy hides any part of the database from anybody, only principals with the same access
        are shown it. Raises IndexUnavailable, DatabaseUnavailable, UnknownDatabase, PolicyError.
        """
        note = build_note(feedback, datetime.now(UTC))
        dialect = self._dialects.get(note.database)
        if dialect is None:
            raise UnknownDatabase(note.database, tuple(self._dialects))
        verified: Verified | None = None
        if note.right_sql:
            result = await self._verifier.verify(note.database, note.right_sql, feedback.principal)
            if isinstance(result, Rejected):
                return FeedbackReceipt("refused", reason=result.reason)
            verified = result
        receipt = FeedbackReceipt("recorded")
        if not note.is_right and await self._remove(note, dialect):
            receipt = FeedbackReceipt("removed")
        if verified is not None:
            receipt = await self._store_example(note, verified, feedback.is_reviewed)
        await self._notes.record(replace(note, outcome=receipt.outcome))
        return receipt

    async def _remove(self, note: FeedbackNote, dialect: str) -> bool:
        """Removes the example of this question, query and access; false if there was none."""
        example = await _identify(note, note.sql, dialect)
        return bool(example) and await self._examples.remove(note.database, [example]) > 0

    async def _store_example(
        self, note: FeedbackNote, verified: Verified, is_reviewed: bool
    ) -> FeedbackReceipt:
        example = await run_in_parser_thread(
            build_example,
            note.database,
            note.question,
            verified.sql,
            verified.tables,
            dialect=verified.dialect,
            source="feedback",
            given_by=note.given_by,
            access=note.access,
            created_at=note.given_at,
            reviewed=is_reviewed,
        )
        present = await self._examples.list_embedded(note.database, among=[example.id])
        known = present.get(example.id)
        if known is not None and known.embedder == self._vectors:
            await self._examples.affirm(example)
            return FeedbackReceipt("known", example.id)
        vectors = await asyncio.to_thread(self._embedder.embed, [example.masked])
        await self._examples.put([example], vectors, self._vectors)
        return FeedbackReceipt("stored", example.id)


class FeedbackWithdrawal:
    """Removes notes. ``dialects`` maps a database's name to its SQL dialect.

    All methods raise IndexUnavailable.
    """

    def __init__(self, index: IndexConnections, dialects: Mapping[str, str]) -> None:
        self._examples = ExampleStore(index)
        self._notes = FeedbackStore(index)
        self._dialects = dict(dialects)

    async def find(self, id_: str) -> FeedbackNote | None:
        """The note of that id."""
        return await self._notes.find(id_)

    async def withdraw(self, note: FeedbackNote) -> None:
        """Removes the note and its example, and opens again what its correction closed."""
        # The example first: if that fails, the note is still there to be withdrawn.
        example = await self._find_example(note)
        if example and not await self._is_given_by_another(note, example):
            await self._examples.remove(note.database, [example])
        await self._notes.remove(note.id)

    async def _find_example(self, note: FeedbackNote) -> str:
        """The id of the example that the note gives; empty if it gives none."""
        dialect = self._dialects.get(note.database)
        if dialect is None or not note.right_sql:
            return ""
        return await _identify(note, note.right_sql, dialect)

    async def _is_given_by_another(self, note: FeedbackNote, example: str) -> bool:
        question = fold_question(note.question)
        for other in await self._notes.list_all(note.database, access=note.access):
            is_another = other.id != note.id and fold_question(other.question) == question
            if is_another and await self._find_example(other) == example:
                return True
        return False


async def _identify(note: FeedbackNote, sql: str, dialect: str) -> str:
    """The id of the example of the note's question with that query; empty if it is not SQL."""
    try:
        stripped = await run_in_parser_thread(strip_sql, sql, dialect)
        form = await run_in_parser_thread(normal_form, stripped, dialect)
    except SqlglotError:
        return ""
    return identify_example(note.database, note.question, form, note.access)
