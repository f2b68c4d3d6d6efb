"""Conversations: what follow-up questions are completed from, and what people find again.

A conversation belongs to a name with its roles and attributes. Policies may have changed since a
question was answered, so the guard checks every query again. One that it refuses is withheld, with
the question as it was completed, which may name the same things; follow-up questions are then not
completed from that conversation.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from nl2sql.answers import Answer, Answered, Clarify
from nl2sql.concurrency import gather_all
from nl2sql.protocols import Guard
from nl2sql.settings.pipeline import SessionSettings
from nl2sql.types import Principal, Question, Turn, Violation
from retrieval.cursors import read_time_cursor, write_cursor
from retrieval.index_store.conversation_store import (
    ConversationStore,
    KeptConversation,
    KeptTurn,
)
from retrieval.index_store.example_store import build_access_key

MOST_TURNS = 5
"""Turns that are read for a follow-up question."""
# Older turns are not.
_RECALLED_HOURS = 24


def identify_owner(principal: Principal) -> str:
    """A hash of the name, roles and attributes, under which sessions are stored.

    >>> mia = Principal("mia", ("clerk",))
    >>> identify_owner(mia) == identify_owner(Principal("mia", ("clerk", "boss")))
    False
    """
    whole = f"{principal.name}\0{build_access_key(principal)}"
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:32]


MOST_SHOWN = 100
"""Questions of a conversation that are shown, the latest."""

_MOST_KEPT = 500
# A longer query is not kept: it would fill the prompt of the next question.
_LONGEST_QUERY = 8000
_PRUNE_INTERVAL_S = 3600.0


@dataclass(frozen=True, slots=True)
class WholeConversation:
    """A conversation and its latest turns, oldest first; ``withheld`` are ids of turns whose query
    may not be shown any more.
    """

    conversation: KeptConversation
    turns: tuple[KeptTurn, ...]
    withheld: frozenset[int]


class GuardedConversations:
    """The conversations in one index, checked by one guard. All methods raise IndexUnavailable.

    ``databases`` are those that the principal may ask now: others are not mentioned. Without a
    history (``sessions.history_days`` is 0) nothing is listed, and a day is kept.
    """

    def __init__(self, store: ConversationStore, guard: Guard, settings: SessionSettings) -> None:
        self._store = store
        self._guard = guard
        self._days = settings.history_days
        self._pruned_at = -float("inf")

    async def recall(self, question: Question) -> tuple[Turn, ...]:
        """The last turns of the question's session on its database, oldest first.

        None if the principal may not run one of their queries now. Raises PolicyError if the policy
        does not fit the database.
        """
        found = await self._store.list_turns(
            identify_owner(question.principal),
            question.session,
            (question.database,),
            most=MOST_TURNS,
            hours=_RECALLED_HOURS,
        )
        queries = frozenset[tuple[str, str]]().union(*(turn.queries for turn in found))
        if await find_refused(self._guard, queries, question.principal):
            return ()
        return tuple(
            Turn(turn.rewritten or turn.question, turn.outcome, turn.sql, turn.interpretations)
            for turn in found
            if turn.queries or turn.outcome == "failed"
        )

    async def record(self, question: Question, answer: Answer) -> None:
        """Keeps the question as it was asked, and how it ended.

        A completed question is kept only with a query, by which the guard can judge it later.
        """
        await self._prune()
        answered = answer if isinstance(answer, Answered) else None
        offered = answer.interpretations if isinstance(answer, Clarify) else ()
        queries = [answered.sql if answered else "", *(each.sql for each in offered)]
        sql, *interpretations = ["" if len(sql) > _LONGEST_QUERY else sql for sql in queries]
        is_completed = answer.trace.asked and any((sql, *interpretations))
        await self._store.add(
            identify_owner(question.principal),
            question.session,
            KeptTurn(
                id=0,
                database=question.database,
                question=question.text,
                rewritten=answer.trace.question.text if is_completed else "",
                outcome=type(answer).__name__.lower(),
                sql=sql,
                asked_at=datetime.now(UTC),
                interpretations=tuple(filter(None, interpretations)),
                confidence=answered.confidence if answered else None,
                quorum=answered.quorum if answered else None,
                origin=answered.origin if answered else "",
            ),
            most=_MOST_KEPT,
        )

    async def list_latest(
        self,
        principal: Principal,
        databases: Collection[str],
        *,
        search: str,
        after: str,
        most: int,
    ) -> tuple[list[KeptConversation], str]:
        """A page, the latest first, and the cursor of the next; raises InvalidRequest too."""
        await self._prune()
        found = await self._store.list_latest(
            identify_owner(principal),
            databases,
            days=self._days,
            most=most + 1,
            search=search,
            before=read_time_cursor(after),
        )
        page = found[:most]
        if len(found) <= most:
            return page, ""
        return page, write_cursor(page[-1].asked_at.isoformat(), page[-1].session)

    async def load(
        self, principal: Principal, databases: Collection[str], session: str
    ) -> WholeConversation | None:
        """A conversation of the principal; raises PolicyError if the policy does not fit."""
        owner = identify_owner(principal)
        found = await self._store.list_latest(
            owner, databases, days=self._days, most=1, session=session
        )
        if not found:
            return None
        turns = await self._store.list_turns(owner, session, databases, most=MOST_SHOWN)
        queries = frozenset[tuple[str, str]]().union(*(turn.queries for turn in turns))
        refused = await find_refused(self._guard, queries, principal)
        withheld = frozenset(turn.id for turn in turns if not refused.isdisjoint(turn.queries))
        return WholeConversation(
            found[0],
            tuple(
                replace(turn, sql="", rewritten="") if turn.id in withheld else turn
                for turn in turns
            ),
            withheld,
        )

    async def delete(self, principal: Principal, session: str = "") -> tuple[int, int]:
        """Deletes one of the principal's conversations, or all; see the store."""
        return await self._store.delete(owner=identify_owner(principal), session=session)

    async def clear(self, *, principal: Principal | None = None, session: str = "") -> int:
        """For operators: deletes the named conversations, or all; returns their questions."""
        owner = identify_owner(principal) if principal is not None else ""
        return (await self._store.delete(owner=owner, session=session))[1]

    async def _prune(self) -> None:
        if time.monotonic() - self._pruned_at >= _PRUNE_INTERVAL_S:
            self._pruned_at = time.monotonic()
            await self._store.prune(max(self._days, 1))


async def find_refused(
    guard: Guard, queries: Collection[tuple[str, str]], principal: Principal
) -> frozenset[tuple[str, str]]:
    """Those of ``queries`` (database and SQL) that the principal may not run."""
    asked = sorted(queries)
    verdicts = await gather_all(guard.guard(database, sql, principal) for database, sql in asked)
    return frozenset(
        query
        for query, verdict in zip(asked, verdicts, strict=True)
        if isinstance(verdict, Violation)
    )
