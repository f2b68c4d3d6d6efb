"""Feedback on answers: a right answer becomes an example, a wrong one is no longer an example.

Each person gives examples of their own, so that nobody else's feedback takes them away but a
reviewer's. Feedback can be withdrawn: its example goes too, unless other feedback of the same
person gives it as well. An example that the feedback had removed is not stored again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from sqlglot.errors import SqlglotError

from nl2sql.errors import UnknownDatabase
from nl2sql.languages.context import continues_another
from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.threads import run_in_parser_thread
from retrieval.embedding.embedder import Embedder
from retrieval.examples.marking import (
    Proposal,
    ProposedParameter,
    mark_parameters,
    propose_parameters,
)
from retrieval.examples.pairs import Pair, read_pattern
from retrieval.examples.records import (
    Rejected,
    Verified,
    Verifier,
    build_example,
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
from retrieval.index_store.store import IndexStore

_CONTINUES = (
    "It continues another question, so its words alone mean nothing. Ask it in full: "
    "'How many customers are in Italy?' instead of 'And in Italy?'."
)


@dataclass(frozen=True, slots=True)
class FeedbackReceipt:
    """The outcome of a feedback.

    The query was ``stored`` as the example with this id, was ``known`` already, was ``removed``
    from the examples, the feedback was only ``recorded``, or it was ``refused``: the principal
    cannot run the query, and ``reason`` says why. ``proposed`` are the values of a reviewer's query
    that can be parameters, ``chosen`` the names of those that now are; ``marked`` is the pair with
    all that can be.
    """

    outcome: FeedbackOutcome
    example: str = ""
    reason: str = ""
    proposed: Proposal = field(default_factory=Proposal)
    chosen: frozenset[str] = frozenset()
    marked: Pair | None = None


class FeedbackRecorder:
    """Records feedback, except on a query that its sender may not run.

    ``dialects`` maps a database's name to its SQL dialect.
    """

    def __init__(
        self,
        index: IndexStore,
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

        The query is verified as the sender, and the example belongs to the sender and its access:
        if the policy hides any part of the database from anybody, only principals with the same
        access are shown it. A wrong query is no longer an example of the sender, and if a reviewer
        says so, of nobody with this access. Raises IndexUnavailable, DatabaseUnavailable,
        UnknownDatabase, PolicyError.
        """
        note = build_note(feedback, datetime.now(UTC))
        dialect = self._dialects.get(note.database)
        if dialect is None:
            raise UnknownDatabase(note.database, tuple(self._dialects))
        verified: Verified | None = None
        proposed = Proposal()
        if note.right_sql:
            if continues_another(note.question):
                return FeedbackReceipt("refused", reason=_CONTINUES)
            result = await self._verifier.verify(note.database, note.right_sql, feedback.principal)
            if isinstance(result, Rejected):
                return FeedbackReceipt("refused", reason=result.reason)
            verified = result
            if feedback.is_reviewed:
                proposed = await run_in_parser_thread(
                    propose_parameters, note.question, verified.sql, verified.catalog
                )
        named = set(feedback.parameters or ())
        chosen = [each for each in proposed.offered if each.name in named]
        if unknown := sorted(named - {each.name for each in chosen}):
            return FeedbackReceipt("refused", reason=f"It has no parameter {unknown[0]!r}.")
        # A reviewer who says nothing of parameters keeps those that are stored.
        keeps = feedback.is_reviewed and feedback.parameters is None
        pattern = None if keeps else ""
        whole: Pair | None = None
        if verified and proposed.offered:
            with suppress(ValueError):
                whole = await self._mark(note, verified.sql, proposed.offered, dialect)
        if verified and chosen:
            try:
                marked = await self._mark(note, verified.sql, chosen, dialect)
            except ValueError as error:
                return FeedbackReceipt("refused", reason=str(error))
            pattern = marked.write_pattern()
        receipt = FeedbackReceipt("recorded")
        if not note.is_right and await self._remove(note, dialect, by_all=feedback.is_reviewed):
            receipt = FeedbackReceipt("removed")
        if verified is not None:
            receipt = await self._store_example(note, verified, feedback.is_reviewed, pattern)
        await self._notes.record(replace(note, outcome=receipt.outcome))
        return replace(receipt, proposed=proposed, marked=whole)

    async def _mark(
        self, note: FeedbackNote, sql: str, chosen: Sequence[ProposedParameter], dialect: str
    ) -> Pair:
        """Raises ValueError if the values cannot be parameters together."""
        return await run_in_parser_thread(mark_parameters, note.question, sql, chosen, dialect)

    async def _remove(self, note: FeedbackNote, dialect: str, *, by_all: bool) -> bool:
        """Removes what the sender, or everybody with this access, gave; false if that is none."""
        form = await _read_form(note.sql, dialect)
        given_by = None if by_all else note.given_by
        return (
            await self._examples.remove_feedback(
                note.database, note.question, form, note.access, given_by
            )
            > 0
        )

    async def _store_example(
        self,
        note: FeedbackNote,
        verified: Verified,
        is_reviewed: bool,
        pattern: str | None,
    ) -> FeedbackReceipt:
        """Stores it with the pattern, or with the one that is stored (None)."""
        dialect = verified.catalog.dialect
        example = await run_in_parser_thread(
            build_example,
            note.database,
            note.question,
            verified.sql,
            verified.tables,
            dialect=dialect,
            source="feedback",
            given_by=note.given_by,
            access=note.access,
            created_at=note.given_at,
            reviewed=is_reviewed,
            pattern=pattern or "",
            indexed_database=verified.catalog.database,
        )
        stored = await self._examples.find_pattern(note.database, example.id)
        if pattern is None and stored:
            example = replace(example, pattern=stored)
        vectors = await asyncio.to_thread(self._embedder.embed, [example.masked])
        await self._examples.put([example], vectors, self._vectors)
        pair = read_pattern(example.pattern) if example.pattern else None
        return FeedbackReceipt(
            "stored" if stored is None else "known",
            example.id,
            chosen=frozenset(pair.parameters if pair else ()),
        )


class FeedbackWithdrawal:
    """Removes notes. ``dialects`` maps a database's name to its SQL dialect."""

    def __init__(self, index: IndexStore, dialects: Mapping[str, str]) -> None:
        self._examples = ExampleStore(index)
        self._notes = FeedbackStore(index)
        self._dialects = dict(dialects)

    async def withdraw(self, note: FeedbackNote) -> None:
        """Removes the note and its example, and opens again what its correction closed.

        Raises IndexUnavailable.
        """
        # The example first: if that fails, the note is still there to be withdrawn.
        form = await self._read_form(note)
        others = await self._notes.list_all(note.database, access=note.access)
        question = fold_question(note.question)
        given_again = [
            await self._read_form(other)
            for other in others
            if (other.given_by, fold_question(other.question)) == (note.given_by, question)
            and other.id != note.id
        ]
        if form not in given_again:
            await self._examples.remove_feedback(
                note.database, note.question, form, note.access, note.given_by
            )
        await self._notes.remove(note.id)

    async def _read_form(self, note: FeedbackNote) -> str:
        """The normal form of the query that the note gives; empty if it gives none."""
        dialect = self._dialects.get(note.database)
        return await _read_form(note.right_sql, dialect) if dialect else ""


async def _read_form(sql: str, dialect: str) -> str:
    """The normal form of a query as of its example; empty, as no example has, if it is not SQL."""
    try:
        stripped = await run_in_parser_thread(strip_sql, sql, dialect)
        return await run_in_parser_thread(normal_form, stripped, dialect)
    except SqlglotError:
        return ""
