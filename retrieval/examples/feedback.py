"""Feedback on answers: a right answer becomes an example, a wrong one is no longer an example.

Each person gives examples of their own, so that nobody else's feedback takes them away but a
reviewer's. Feedback can be withdrawn: its example goes too, unless other feedback of the same
person gives it as well. An example that the feedback had removed is not stored again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from nl2sql.errors import UnknownDatabase
from nl2sql.languages.context import continues_another
from nl2sql.sql.threads import run_in_parser_thread
from retrieval.embedding.embedder import Embedder
from retrieval.examples.marking import Proposal, mark_parameters, propose_parameters
from retrieval.examples.pairs import Pair, read_pattern
from retrieval.examples.records import (
    Rejected,
    Verified,
    Verifier,
    build_example,
    name_vectors,
    read_form,
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
_NOTHING_RIGHT = "A wrong query has no parameters. Send its correction too, or no parameters."


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
    """Records feedback, except on a query that its sender may not run, and takes it back.

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
        if note.database not in self._dialects:
            raise UnknownDatabase(note.database, tuple(self._dialects))
        if feedback.parameters and not note.right_sql:
            return FeedbackReceipt("refused", reason=_NOTHING_RIGHT)
        right = await self._read_right(note, feedback) if note.right_sql else None
        if isinstance(right, Rejected):
            return FeedbackReceipt("refused", reason=right.reason)
        receipt = FeedbackReceipt("recorded")
        if not note.is_right and await self._remove(note, note.sql, by_all=feedback.is_reviewed):
            receipt = FeedbackReceipt("removed")
        if right is not None:
            receipt = await self._store_example(note, right, feedback.is_reviewed)
        await self._notes.record(replace(note, outcome=receipt.outcome))
        return receipt

    async def _read_right(self, note: FeedbackNote, feedback: Feedback) -> _Right | Rejected:
        """The query that answers the question, with the parameters that the sender chose."""
        if continues_another(note.question):
            return Rejected(_CONTINUES)
        verified = await self._verifier.verify(note.database, note.right_sql, feedback.principal)
        if isinstance(verified, Rejected):
            return verified
        return await run_in_parser_thread(_mark, verified, feedback)

    async def _remove(self, note: FeedbackNote, sql: str, *, by_all: bool = False) -> bool:
        """Removes what the sender, or everybody with this access, gave; false if that is none."""
        form = await self._read_form(note.database, sql)
        whose = (note.access, None if by_all else note.given_by)
        removed = self._examples.remove_feedback(note.database, note.question, form, *whose)
        return await removed > 0

    async def _read_form(self, database: str, sql: str) -> str:
        """``read_form``; empty for a database that is no more."""
        dialect = self._dialects.get(database)
        return await run_in_parser_thread(read_form, sql, dialect) if dialect else ""

    async def _store_example(
        self, note: FeedbackNote, right: _Right, is_reviewed: bool
    ) -> FeedbackReceipt:
        verified, pattern = right.verified, right.pattern
        example = await run_in_parser_thread(
            build_example,
            note.database,
            note.question,
            verified.sql,
            verified.tables,
            dialect=verified.catalog.dialect,
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
            proposed=right.proposed,
            chosen=frozenset(pair.parameters if pair else ()),
            marked=right.whole,
        )

    async def withdraw(self, note: FeedbackNote) -> None:
        """Removes the note and its example, and opens again what its correction closed.

        Raises IndexUnavailable.
        """
        # The example first: if that fails, the note is still there to be withdrawn.
        form = await self._read_form(note.database, note.right_sql)
        question = fold_question(note.question)
        given_again = [
            await self._read_form(other.database, other.right_sql)
            for other in await self._notes.list_all(note.database, access=note.access)
            if (other.given_by, fold_question(other.question)) == (note.given_by, question)
            and other.id != note.id
        ]
        if form not in given_again:
            await self._remove(note, note.right_sql)
        await self._notes.remove(note.id)


@dataclass(frozen=True, slots=True)
class _Right:
    """The query of an example; its ``pattern`` is the one that is stored if it is None.

    For a reviewer with its values that can be parameters, and the pair with ``whole`` of them.
    """

    verified: Verified
    pattern: str | None
    proposed: Proposal = field(default_factory=Proposal)
    whole: Pair | None = None


def _mark(verified: Verified, feedback: Feedback) -> _Right | Rejected:
    """With the parameters that a reviewer names, or with those that are stored."""
    question, sql, dialect = feedback.question, verified.sql, verified.catalog.dialect
    proposed = Proposal()
    if feedback.is_reviewed:
        proposed = propose_parameters(question, sql, verified.catalog)
    named = set(feedback.parameters or ())
    chosen = [each for each in proposed.offered if each.name in named]
    if unknown := sorted(named - {each.name for each in chosen}):
        return Rejected(f"It has no parameter {unknown[0]!r}.")
    keeps = feedback.is_reviewed and feedback.parameters is None
    pattern, whole = None if keeps else "", None
    if proposed.offered:
        with suppress(ValueError):
            whole = mark_parameters(question, sql, proposed.offered, dialect)
    if chosen:
        try:
            pattern = mark_parameters(question, sql, chosen, dialect).write_pattern()
        except ValueError as error:
            return Rejected(str(error))
    return _Right(verified, pattern, proposed, whole)
