"""Conversations: what follow-up questions are completed from, and what people find again.

A conversation belongs to a name with its roles and attributes, and is stored under their hash in
the index's PostgreSQL: questions, queries and outcomes, never cells of a result. Policies may have
changed since a question was answered, so the guard checks every query again. One that it refuses is
withheld, with the question as it was completed, which may name the same things; follow-up questions
are then not completed from that conversation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pydantic import TypeAdapter

from nl2sql.answers import Answer, Answered, Clarify
from nl2sql.concurrency import gather_all
from nl2sql.protocols import Guard
from nl2sql.settings.pipeline import SessionSettings
from nl2sql.types import Principal, Question, Turn, Violation
from retrieval.cursors import Id, Moment, read_cursor, write_cursor
from retrieval.index_store.example_store import build_access_key
from retrieval.index_store.store import IndexStore
from retrieval.index_store.table_store import TableStore, insert

MOST_TURNS = 5
"""Turns that are read for a follow-up question."""
# Older turns are not.
_RECALLED_HOURS = 24

MOST_SHOWN = 100
"""Questions of a conversation that are shown, the latest."""

_MOST_KEPT = 500
# A longer query is not kept: it would fill the prompt of the next question.
_LONGEST_QUERY = 8000
_LONGEST_TITLE = 80
# The latest question of a conversation, and its session.
_SORT_KEY = TypeAdapter(tuple[Moment, Id])

# All but the last turns of a conversation.
_CUT = b"""
DELETE FROM quorumsql.conversation_turns
 WHERE owner = %(owner)s AND session = %(session)s AND number <= (
    SELECT number FROM quorumsql.conversation_turns
     WHERE owner = %(owner)s AND session = %(session)s
     ORDER BY number DESC OFFSET %(most)s LIMIT 1)
"""
_IS_KEPT = "c.asked_at > now() - make_interval(days => %(days)s)"

_LIST = f"""
SELECT c.session, c.title, c.database, c.asked_at,
       (SELECT count(*) FROM quorumsql.conversation_turns t
         WHERE t.owner = c.owner AND t.session = c.session
           AND t.database = ANY (%(databases)s::text[]))
  FROM quorumsql.conversations c
 WHERE c.owner = %(owner)s AND c.database = ANY (%(databases)s::text[]) AND {_IS_KEPT}
   AND (%(before)s::timestamptz IS NULL
        OR (c.asked_at, c.session) < (%(before)s, %(before_session)s))
   AND (%(session)s = '' OR c.session = %(session)s)
   AND (%(search)s = '' OR EXISTS (
        SELECT 1 FROM quorumsql.conversation_turns t
         WHERE t.owner = c.owner AND t.session = c.session
           AND t.database = ANY (%(databases)s::text[])
           AND strpos(lower(t.question), lower(%(search)s)) > 0))
 ORDER BY c.asked_at DESC, c.session DESC LIMIT %(most)s
"""


def identify_owner(principal: Principal) -> str:
    """A hash of the name, roles and attributes, under which sessions are stored.

    >>> mia = Principal("mia", ("clerk",))
    >>> identify_owner(mia) == identify_owner(Principal("mia", ("clerk", "boss")))
    False
    """
    whole = f"{principal.name}\0{build_access_key(principal)}"
    return hashlib.sha256(whole.encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A question and its outcome. ``sql`` and ``rewritten`` may be empty.

    ``interpretations`` are the queries that a clarify answer offered. ``confidence``, ``quorum``
    and ``origin`` are those of the answer when it was given; None and empty without one.
    """

    number: int
    database: str
    question: str
    rewritten: str
    outcome: str
    sql: str
    asked_at: datetime
    interpretations: tuple[str, ...]
    confidence: float | None
    quorum: bool | None
    origin: str

    @property
    def queries(self) -> frozenset[tuple[str, str]]:
        """The database and the SQL of each query of the turn."""
        return frozenset((self.database, sql) for sql in (self.sql, *self.interpretations) if sql)


@dataclass(frozen=True, slots=True)
class KeptConversation:
    """A session without its turns; ``database`` and ``asked_at`` are those of the latest."""

    session: str
    title: str
    database: str
    asked_at: datetime
    questions: int


@dataclass(frozen=True, slots=True)
class WholeConversation:
    """A conversation and its latest turns, oldest first; ``withheld`` are the numbers of turns
    whose query may not be shown any more.
    """

    conversation: KeptConversation
    turns: tuple[KeptTurn, ...]
    withheld: frozenset[int]


class GuardedConversations(TableStore):
    """The conversations in one index, checked by one guard. All methods raise IndexUnavailable.

    ``databases`` are those that the principal may ask now: others are not mentioned. Without a
    history (``sessions.history_days`` is 0) nothing is listed, and a day is kept.
    """

    def __init__(self, index: IndexStore, guard: Guard, settings: SessionSettings) -> None:
        super().__init__(index)
        self._guard = guard
        self._days = settings.history_days

    async def recall(self, question: Question) -> tuple[Turn, ...]:
        """The last turns of the question's session on its database, oldest first.

        Empty if the principal may not run one of their queries now. Raises PolicyError if the
        policy does not fit the database.
        """
        principal, databases = question.principal, (question.database,)
        found, refused = await self._read_turns(
            principal, databases, question.session, MOST_TURNS, _RECALLED_HOURS
        )
        if refused:
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
        await self._delete_expired()
        answered = answer if isinstance(answer, Answered) else None
        offered = answer.interpretations if isinstance(answer, Clarify) else ()
        queries = [answered.sql if answered else "", *(each.sql for each in offered)]
        sql, *interpretations = ["" if len(sql) > _LONGEST_QUERY else sql for sql in queries]
        is_completed = answer.trace.asked and any((sql, *interpretations))
        whose = {"owner": identify_owner(question.principal), "session": question.session}
        latest = {**whose, "database": question.database, "asked_at": datetime.now(UTC)}
        turn = {
            **latest,
            "question": question.text,
            "rewritten": answer.trace.question.text if is_completed else "",
            "outcome": type(answer).__name__.lower(),
            "sql": sql,
            "interpretations": [each for each in interpretations if each],
            "confidence": answered.confidence if answered else None,
            "quorum": answered.quorum if answered else None,
            "origin": answered.origin if answered else "",
        }
        async with self._index.connection() as connection, connection.transaction():
            await insert(
                connection,
                "conversations",
                [{**latest, "title": build_title(question.text)}],
                "ON CONFLICT (owner, session) DO UPDATE"
                " SET database = EXCLUDED.database, asked_at = EXCLUDED.asked_at",
            )
            await insert(connection, "conversation_turns", [turn])
            await connection.execute(_CUT, {**whose, "most": _MOST_KEPT})

    async def list_latest(
        self,
        principal: Principal,
        databases: Collection[str],
        *,
        search: str = "",
        session: str = "",
        after: str = "",
        most: int,
    ) -> tuple[list[KeptConversation], str]:
        """A page, the latest first, and the cursor of the next; raises InvalidRequest too.

        ``search`` is part of a question; an empty ``search`` or ``session`` means all.
        """
        await self._delete_expired()
        moment, id_ = read_cursor(after, _SORT_KEY) or (None, "")
        rows = await self._fetch(
            _LIST,
            {
                "owner": identify_owner(principal),
                "databases": list(databases),
                "days": self._days,
                "most": most + 1,
                "search": search,
                "before": moment,
                "before_session": id_,
                "session": session,
            },
        )
        page = [KeptConversation(*row) for row in rows[:most]]
        if len(rows) <= most:
            return page, ""
        return page, write_cursor(page[-1].asked_at, page[-1].session)

    async def load(
        self, principal: Principal, databases: Collection[str], session: str
    ) -> WholeConversation | None:
        """A conversation of the principal; raises PolicyError if the policy does not fit."""
        found, _ = await self.list_latest(principal, databases, session=session, most=1)
        if not found:
            return None
        turns, refused = await self._read_turns(principal, databases, session, MOST_SHOWN)
        withheld = frozenset(turn.number for turn in turns if refused & turn.queries)
        return WholeConversation(
            found[0],
            tuple(
                replace(turn, sql="", rewritten="") if turn.number in withheld else turn
                for turn in turns
            ),
            withheld,
        )

    async def delete(self, principal: Principal | None, session: str = "") -> tuple[int, int]:
        """Deletes one conversation, or all; returns the numbers of them and of their questions.

        Those of the principal; None means those of everybody.
        """
        chosen = {"owner": identify_owner(principal) if principal else "", "session": session}
        counts = []
        async with self._index.connection() as connection, connection.transaction():
            # In this order, as turns are deleted with their conversation.
            for table in ("conversation_turns", "conversations"):
                statement = (
                    f"DELETE FROM quorumsql.{table} WHERE (%(owner)s = '' OR owner = %(owner)s)"
                    " AND (%(session)s = '' OR session = %(session)s)"
                )
                counts.append((await connection.execute(statement.encode(), chosen)).rowcount)
        questions, conversations = counts
        return conversations, questions

    # -- reading -------------------------------------------------------------------------------

    async def _read_turns(
        self,
        principal: Principal,
        databases: Collection[str],
        session: str,
        most: int,
        hours: int | None = None,
    ) -> tuple[list[KeptTurn], frozenset[tuple[str, str]]]:
        """The last ``most`` turns of a conversation, oldest first; none older than ``hours``.

        And those of their queries that the principal may not run now.
        """
        found = await self._list(
            KeptTurn,
            "conversation_turns",
            "WHERE owner = %(owner)s AND session = %(session)s"
            " AND database = ANY (%(databases)s::text[])"
            " AND (%(hours)s::int IS NULL OR asked_at > now() - make_interval(hours => %(hours)s))"
            " ORDER BY number DESC LIMIT %(most)s",
            {
                "owner": identify_owner(principal),
                "session": session,
                "databases": list(databases),
                "hours": hours,
                "most": most,
            },
        )
        queries = {query for turn in found for query in turn.queries}
        return found[::-1], await find_refused(self._guard, queries, principal)

    async def _delete_expired(self) -> None:
        """Deletes the expired conversations of everybody."""
        await self._prune(
            f"DELETE FROM quorumsql.conversations c WHERE NOT ({_IS_KEPT})",
            {"days": max(self._days, 1)},
        )


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


def build_title(question: str) -> str:
    """The first question on one line, cut to 80 characters.

    >>> build_title("How many\\norders?"), len(build_title("long " * 50))
    ('How many orders?', 80)
    """
    text = " ".join(question.split())
    return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1]}…"
