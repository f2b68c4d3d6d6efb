"""Takes back feedback: the example that it gave goes too, unless other feedback gives it as well.

Does not decide who may do that: the caller does. An example that the feedback had removed is not
stored again.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot.errors import SqlglotError

from nl2sql.sql.normal_form import normal_form
from nl2sql.sql.threads import read_aside
from retrieval.examples.records import identify_example, strip_sql
from retrieval.index_store.example_store import ExampleStore
from retrieval.index_store.feedback_note import FeedbackNote
from retrieval.index_store.verified_example import fold_question


class FeedbackWithdrawal:
    """Removes notes. ``dialects`` maps a database's name to its SQL dialect.

    All methods raise IndexUnavailable.
    """

    def __init__(self, store: ExampleStore, dialects: Mapping[str, str]) -> None:
        self._store = store
        self._dialects = dict(dialects)

    async def find(self, id_: str) -> FeedbackNote | None:
        """The note of that id."""
        return await self._store.find_feedback(id_)

    async def withdraw(self, note: FeedbackNote) -> None:
        """Removes the note and its example, and opens again what its correction closed."""
        # The example first: if that fails, the note is still there to be withdrawn.
        example = await self._identify(note)
        if example and not await self._is_given_by_another(note, example):
            await self._store.remove(note.database, [example])
        await self._store.remove_feedback(note.id)

    async def _identify(self, note: FeedbackNote) -> str:
        """The id of the example that the note gives; empty if it gives none."""
        dialect = self._dialects.get(note.database)
        if dialect is None or not note.right_sql:
            return ""
        try:
            sql = await read_aside(strip_sql, note.right_sql, dialect)
            form = await read_aside(normal_form, sql, dialect)
        except SqlglotError:
            return ""
        return identify_example(note.database, note.question, form, note.access)

    async def _is_given_by_another(self, note: FeedbackNote, example: str) -> bool:
        question = fold_question(note.question)
        for other in await self._store.list_feedback(note.database, access=note.access):
            is_another = other.id != note.id and fold_question(other.question) == question
            if is_another and await self._identify(other) == example:
                return True
        return False
