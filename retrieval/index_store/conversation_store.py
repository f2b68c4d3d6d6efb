"""Conversations in the index's PostgreSQL, stored under the hash of their owner.

The store does not call the guard: the caller does, before it shows a query. A conversation holds
questions, queries and outcomes, never cells of a result.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from retrieval.index_store.connections import Connections
from retrieval.index_store.stored_texts import clean_text

_LONGEST_TITLE = 80
# Starred conversations do not expire.
_IS_KEPT = "(c.starred OR c.asked_at > now() - make_interval(days => %(days)s))"

_LIST = f"""
SELECT c.session, c.title, c.database, c.asked_at, c.starred,
       (SELECT count(*) FROM quorumsql.conversation_turns t
         WHERE t.owner = c.owner AND t.session = c.session
           AND t.database = ANY (%(databases)s::text[]))
  FROM quorumsql.conversations c
 WHERE c.owner = %(owner)s AND c.database = ANY (%(databases)s::text[]) AND {_IS_KEPT}
   AND (%(starred)s::boolean IS NULL OR c.starred = %(starred)s)
   AND (%(before)s::timestamptz IS NULL
        OR (c.asked_at, c.session) < (%(before)s, %(before_session)s))
   AND (%(session)s = '' OR c.session = %(session)s)
   AND (%(search)s = '' OR strpos(lower(c.title), lower(%(search)s)) > 0 OR EXISTS (
        SELECT 1 FROM quorumsql.conversation_turns t
         WHERE t.owner = c.owner AND t.session = c.session
           AND t.database = ANY (%(databases)s::text[])
           AND strpos(lower(t.question), lower(%(search)s)) > 0))
 ORDER BY c.asked_at DESC, c.session DESC LIMIT %(most)s
"""


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A question and its outcome; ``id`` is its number. ``sql`` and ``rewritten`` may be empty.

    ``confidence``, ``quorum`` and ``origin`` are those of the answer when it was given; None and
    empty without one.
    """

    id: int
    database: str
    question: str
    rewritten: str
    outcome: str
    sql: str
    asked_at: datetime
    confidence: float | None = None
    quorum: bool | None = None
    origin: str = ""


@dataclass(frozen=True, slots=True)
class KeptConversation:
    """A session without its turns; ``database`` and ``asked_at`` are those of the latest."""

    session: str
    title: str
    database: str
    asked_at: datetime
    starred: bool
    questions: int


class ConversationStore:
    """Reads and writes conversations. All methods raise IndexUnavailable.

    ``days`` is how long one that is not starred is kept after its latest question; ``databases``
    are those whose questions are shown.
    """

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def add(
        self,
        owner: str,
        session: str,
        *,
        database: str,
        question: str,
        rewritten: str,
        outcome: str,
        sql: str,
        confidence: float | None,
        quorum: bool | None,
        origin: str,
        most: int,
    ) -> None:
        """Adds a turn, and the conversation if it is the first; deletes all but ``most`` turns."""
        values = {
            "owner": owner,
            "session": session,
            "database": database,
            "question": clean_text(question),
            "rewritten": clean_text(rewritten),
            "outcome": outcome,
            "sql": clean_text(sql),
            "confidence": confidence,
            "quorum": quorum,
            "origin": origin,
            "title": build_title(clean_text(question)),
            "most": most,
        }
        async with self._store.connection() as connection, connection.transaction():
            await connection.execute(
                "INSERT INTO quorumsql.conversations (owner, session, title, database, asked_at)"
                " VALUES (%(owner)s, %(session)s, %(title)s, %(database)s, now())"
                " ON CONFLICT (owner, session) DO UPDATE"
                " SET database = EXCLUDED.database, asked_at = EXCLUDED.asked_at",
                values,
            )
            await connection.execute(
                "INSERT INTO quorumsql.conversation_turns"
                " (owner, session, database, question, rewritten, outcome, sql, confidence,"
                " quorum, origin, asked_at)"
                " VALUES (%(owner)s, %(session)s, %(database)s, %(question)s, %(rewritten)s,"
                " %(outcome)s, %(sql)s, %(confidence)s, %(quorum)s, %(origin)s, now())",
                values,
            )
            await connection.execute(
                "DELETE FROM quorumsql.conversation_turns"
                " WHERE owner = %(owner)s AND session = %(session)s AND number <= ("
                " SELECT number FROM quorumsql.conversation_turns"
                " WHERE owner = %(owner)s AND session = %(session)s"
                " ORDER BY number DESC OFFSET %(most)s LIMIT 1)",
                values,
            )

    async def list_latest(
        self,
        owner: str,
        databases: Collection[str],
        *,
        days: int,
        most: int,
        search: str = "",
        starred: bool | None = None,
        before: tuple[datetime, str] | None = None,
        session: str = "",
    ) -> list[KeptConversation]:
        """At most ``most`` conversations, the latest first, that match all that is given.

        ``search`` is part of a title or a question; ``before`` the time and session of the last
        one of the page before.
        """
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                _LIST.encode(),
                {
                    "owner": owner,
                    "databases": list(databases),
                    "days": days,
                    "most": most,
                    "search": search,
                    "starred": starred,
                    "before": before[0] if before else None,
                    "before_session": before[1] if before else "",
                    "session": session,
                },
            )
            return [KeptConversation(*row) for row in await cursor.fetchall()]

    async def list_turns(
        self, owner: str, session: str, databases: Collection[str], *, most: int
    ) -> list[KeptTurn]:
        """The last ``most`` turns of a conversation, oldest first."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT number, database, question, rewritten, outcome, sql, asked_at,"
                " confidence, quorum, origin FROM quorumsql.conversation_turns"
                " WHERE owner = %s AND session = %s AND database = ANY (%s::text[])"
                " ORDER BY number DESC LIMIT %s",
                (owner, session, list(databases), most),
            )
            return [KeptTurn(*row) for row in reversed(await cursor.fetchall())]

    async def change(
        self, owner: str, session: str, *, title: str | None, starred: bool | None
    ) -> None:
        """Changes what is not None; of a conversation that does not exist, nothing."""
        async with self._store.connection() as connection:
            await connection.execute(
                "UPDATE quorumsql.conversations SET title = coalesce(%s, title),"
                " starred = coalesce(%s, starred) WHERE owner = %s AND session = %s",
                (None if title is None else clean_text(title), starred, owner, session),
            )

    async def delete(self, *, owner: str = "", session: str = "") -> tuple[int, int]:
        """Deletes conversations with all that follow-up questions are completed from.

        An empty ``owner`` or ``session`` means all of them. Returns the numbers of conversations
        and of questions.
        """
        chosen = {"owner": owner, "session": session}
        which = (
            " WHERE (%(owner)s = '' OR owner = %(owner)s)"
            " AND (%(session)s = '' OR session = %(session)s)"
        )
        counts = []
        async with self._store.connection() as connection, connection.transaction():
            for table in ("session_turns", "conversation_turns", "conversations"):
                cursor = await connection.execute(
                    f"DELETE FROM quorumsql.{table}{which}".encode(), chosen
                )
                counts.append(cursor.rowcount)
        turns, questions, conversations = counts
        return conversations, max(turns, questions)

    async def prune(self, days: int) -> int:
        """Deletes the expired conversations of all owners; returns their number."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                f"DELETE FROM quorumsql.conversations c WHERE NOT {_IS_KEPT}".encode(),
                {"days": days},
            )
            return cursor.rowcount


def build_title(question: str) -> str:
    """The first question on one line, cut to 80 characters.

    >>> build_title("How many\\norders?"), len(build_title("long " * 50))
    ('How many orders?', 80)
    """
    text = " ".join(question.split())
    return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1]}…"
