"""What a user says of an answer: a right one becomes an example, a wrong one is one no more."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from sqlglot.errors import SqlglotError

from nl2sql.errors import UnknownDatabase
from nl2sql.sql_text import normal_form
from nl2sql.sql_text.threads import read_aside
from nl2sql.types import Feedback, FeedbackReceipt
from retrieval.embedder import Embedder
from retrieval.examples.masking import name_vectors
from retrieval.examples.records import (
    build_access_key,
    build_example,
    identify_example,
    strip_sql,
)
from retrieval.examples.verification import Rejected, Verified, Verifier
from retrieval.index_store.example_store import ExampleStore


class FeedbackDesk:
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
        dialect = self._dialects.get(feedback.database)
        if dialect is None:
            raise UnknownDatabase(feedback.database, tuple(self._dialects))
        verified: Verified | None = None
        if feedback.right_sql:
            result = await self._verifier.verify(
                feedback.database, feedback.right_sql, feedback.principal
            )
            if isinstance(result, Rejected):
                return FeedbackReceipt("refused", reason=result.reason)
            verified = result
        receipt = FeedbackReceipt("recorded")
        if not feedback.is_right and await self._remove(feedback, dialect):
            receipt = FeedbackReceipt("removed")
        if verified is not None:
            receipt = await self._store_example(feedback, verified)
        await self._store.record_feedback(feedback, receipt.outcome)
        return receipt

    async def _remove(self, feedback: Feedback, dialect: str) -> bool:
        """Whether this access had given that query as an answer to this question."""
        try:
            sql = await read_aside(strip_sql, feedback.sql, dialect)
            form = await read_aside(normal_form, sql, dialect)
        except SqlglotError:
            return False
        access = build_access_key(feedback.principal)
        id_ = identify_example(feedback.database, feedback.question, form, access)
        return await self._store.remove(feedback.database, [id_]) > 0

    async def _store_example(self, feedback: Feedback, verified: Verified) -> FeedbackReceipt:
        example = await read_aside(
            build_example,
            feedback.database,
            feedback.question,
            verified.sql,
            verified.tables,
            dialect=verified.dialect,
            source="feedback",
            given_by=feedback.principal.name,
            access=build_access_key(feedback.principal),
        )
        present = await self._store.list_embedded(feedback.database, among=[example.id])
        if present.get(example.id, ("", ()))[0] == self._vectors:
            return FeedbackReceipt("known", example.id)
        vectors = await asyncio.to_thread(self._embedder.embed, [example.masked])
        await self._store.put([example], vectors, self._vectors)
        return FeedbackReceipt("stored", example.id)
