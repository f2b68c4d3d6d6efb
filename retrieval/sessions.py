"""Sessions, readable only by their principal and only while all their queries are allowed.

A session belongs to a name with its roles and attributes. Policies may have changed since a
question was answered, so the guard checks every query again before its turn is used; if it refuses
one, the whole session is deleted.
"""

from __future__ import annotations

import hashlib

from nl2sql.concurrency import gather_all
from nl2sql.protocols import Guard
from nl2sql.settings.conversation import SessionSettings
from nl2sql.types import Principal, Question, Turn, Violation
from retrieval.index_store.conversation_store import ConversationStore
from retrieval.index_store.session_store import SessionStore
from retrieval.index_store.verified_example import build_access_key

# A longer query is not stored: it would fill the prompt of the next question.
_LONGEST_QUERY = 8000


class GuardedSessions:
    """The sessions in one index, checked by one guard."""

    def __init__(
        self,
        store: SessionStore,
        guard: Guard,
        settings: SessionSettings,
        history: ConversationStore | None = None,
    ) -> None:
        """What is deleted here is deleted from ``history`` too."""
        self._store = store
        self._history = history
        self._guard = guard
        self._settings = settings

    async def recall(self, question: Question) -> tuple[Turn, ...]:
        """The session's turns on the question's database, oldest first.

        Raises Unavailable, and PolicyError if the policy does not fit the database.
        """
        owner = identify_owner(question.principal)
        turns = await self._store.load(
            owner,
            question.session,
            question.database,
            most=self._settings.turns,
            keep_hours=self._settings.keep_hours,
        )
        queries = {sql for turn in turns for sql in (turn.sql, *turn.interpretations) if sql}
        verdicts = await gather_all(
            self._guard.guard(question.database, sql, question.principal) for sql in sorted(queries)
        )
        if any(isinstance(verdict, Violation) for verdict in verdicts):
            await self._store.forget(owner, question.session)
            return ()
        return turns

    async def remember(self, question: Question, turn: Turn) -> None:
        """Stores the turn for the question's principal. Raises IndexUnavailable."""
        if any(len(sql) > _LONGEST_QUERY for sql in (turn.sql, *turn.interpretations)):
            return
        await self._store.add(
            identify_owner(question.principal),
            question.session,
            question.database,
            turn,
            most=self._settings.turns,
            keep_hours=self._settings.keep_hours,
        )

    async def forget(self, principal: Principal, session: str) -> int:
        """Deletes the principal's session; returns the number of turns. Raises IndexUnavailable."""
        owner = identify_owner(principal)
        if self._history is not None:
            return (await self._history.delete(owner=owner, session=session))[1]
        return await self._store.forget(owner, session)

    async def clear(self, *, principal: Principal | None = None, session: str = "") -> int:
        """For operators: deletes the named sessions, or all of them. Raises IndexUnavailable."""
        owner = identify_owner(principal) if principal is not None else ""
        if self._history is not None:
            return (await self._history.delete(owner=owner, session=session))[1]
        return await self._store.forget_all(owner=owner, session=session)


def identify_owner(principal: Principal) -> str:
    """A hash of the name, roles and attributes, under which sessions are stored.

    >>> mia = Principal("mia", ("clerk",))
    >>> identify_owner(mia) == identify_owner(Principal("mia", ("clerk", "boss")))
    False
    """
    whole = f"{principal.name}\0{build_access_key(principal)}"
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:32]
