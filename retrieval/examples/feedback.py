"""What a user says of an answer: a right one becomes an example, a wrong one is one no more."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from sqlglot.errors import SqlglotError

from nl2sql.errors import UnknownDatabase
from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.threads import read_aside
from nl2sql.types import Feedback, FeedbackReceipt, Principal
from retrieval.embedding.embedder import Embedder
from retrieval.examples.masking import name_vectors
from retrieval.examples.records import build_example, identify_example, strip_sql
from retrieval.examples.verification import Rejected, Verified, Verifier
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.feedback_note import FeedbackNote, build_note


class FeedbackRecorder:
    """Takes feedback. Everything is recorded, but for a query that its sender may not run.

    ``dialects`` is by database.
    """

    def __init__(
        self,
        store: ExampleStore,
        verifier: Verifier,
        embedder: Embedder,
        dialects: Mapping[str, str],
    ) -> None:
        self._store = store
        self._verifier = verifier
        self._embedder = embedder
        self._vectors = name_vectors(embedder.name)
        self._dialects = dict(dialects)

    async def take_feedback(self, feedback: Feedback) -> FeedbackReceipt:
        """What came of it; the same feedback again changes nothing.

        The query is verified as who sent it, and the example belongs to that access: where
        anything of the database is withheld from somebody, nobody under another one is shown it.
        Raises IndexUnavailable, DatabaseUnavailable, UnknownDatabase, PolicyError.
        """
        return await self.take_note(build_note(feedback, datetime.now(UTC)), feedback.principal)

    async def take_note(
        self, note: FeedbackNote, principal: Principal, *, changes_examples: bool = True
    ) -> FeedbackReceipt:
        """As ``take_feedback``, verified as ``principal`` instead of as who gave it.

        Unless ``changes_examples``, it is verified and recorded only. An outcome that it has stays.
        """
        dialect = self._dialects.get(note.database)
        if dialect is None:
            raise UnknownDatabase(note.database, tuple(self._dialects))
        verified: Verified | None = None
        if note.right_sql:
            result = await self._verifier.verify(note.database, note.right_sql, principal)
            if isinstance(result, Rejected):
                return FeedbackReceipt("refused", reason=result.reason)
            verified = result
        receipt = FeedbackReceipt("recorded")
        if changes_examples:
            if not note.is_right and await self._remove(note, dialect):
                receipt = FeedbackReceipt("removed")
            if verified is not None:
                receipt = await self._store_example(note, verified)
        await self._store.record_feedback(replace(note, outcome=note.outcome or receipt.outcome))
        return receipt

    async def _remove(self, note: FeedbackNote, dialect: str) -> bool:
        """Whether this access had given that query as an answer to this question."""
        try:
            sql = await read_aside(strip_sql, note.sql, dialect)
            form = await read_aside(normal_form, sql, dialect)
        except SqlglotError:
            return False
        id_ = identify_example(note.database, note.question, form, note.access)
        return await self._store.remove(note.database, [id_]) > 0

    async def _store_example(self, note: FeedbackNote, verified: Verified) -> FeedbackReceipt:
        example = await read_aside(
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
        )
        present = await self._store.list_embedded(note.database, among=[example.id])
        if present.get(example.id, ("", ()))[0] == self._vectors:
            return FeedbackReceipt("known", example.id)
        vectors = await asyncio.to_thread(self._embedder.embed, [example.masked])
        await self._store.put([example], vectors, self._vectors)
        return FeedbackReceipt("stored", example.id)
