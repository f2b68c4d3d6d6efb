"""Conversations in the index's PostgreSQL.

They are stored under the hash of their owner. The store does not call the guard: the caller does,
before it shows a query. It holds questions, queries and outcomes, never cells of a result.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from datetime import datetime

from retrieval.index_store.table_store import TableStore, insert, read_row

_LONGEST_TITLE = 80

# An empty owner or session means all of them.
_CHOSEN = (
    "WHERE (%(owner)s = '' OR owner = %(owner)s) AND (%(session)s = '' OR session = %(session)s)"
)
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


@dataclass(frozen=True, slots=True)
class KeptTurn:
    """A question and its outcome; ``id`` is its number. ``sql`` and ``rewritten`` may be empty.

    ``interpretations`` are the queries that a clarify answer offered. ``confidence``, ``quorum``
    and ``origin`` are those of the answer when it was given; None and empty without one.
    """

    id: int
    database: str
    question: str
    rewritten: str
    outcome: str
    sql: str
    asked_at: datetime
    interpretations: tuple[str, ...] = ()
    confidence: float | None = None
    quorum: bool | None = None
    origin: str = ""

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


class ConversationStore(TableStore):
    """What principals asked, for themselves to find again. All methods raise IndexUnavailable.

    ``days`` is how long one is kept after its latest question; ``databases``
    are those whose questions are shown.
    """

    async def add(self, owner: str, session: str, turn: KeptTurn, *, most: int) -> None:
        """Adds a turn, and the conversation if it is the first; deletes all but ``most`` turns.

        The turn's ``id`` is given by the store.
        """
        row = {name: value for name, value in asdict(turn).items() if name != "id"}
        conversation = {
            "owner": owner,
            "session": session,
            "title": build_title(turn.question),
            "database": turn.database,
            "asked_at": turn.asked_at,
        }
        async with self._index.connection() as connection, connection.transaction():
            await insert(
                connection,
                "conversations",
                [conversation],
                "ON CONFLICT (owner, session) DO UPDATE"
                " SET database = EXCLUDED.database, asked_at = EXCLUDED.asked_at",
            )
            await insert(
                connection, "conversation_turns", [{"owner": owner, "session": session, **row}]
            )
            await connection.execute(_CUT, {"owner": owner, "session": session, "most": most})

    async def list_latest(
        self,
        owner: str,
        databases: Collection[str],
        *,
        days: int,
        most: int,
        search: str = "",
        before: tuple[datetime, str] | None = None,
        session: str = "",
    ) -> list[KeptConversation]:
        """At most ``most`` conversations, the latest first, that match all that is given.

        ``search`` is part of a question; ``before`` the time and session of the last
        one of the page before.
        """
        rows = await self._fetch(
            _LIST,
            {
                "owner": owner,
                "databases": list(databases),
                "days": days,
                "most": most,
                "search": search,
                "before": before[0] if before else None,
                "before_session": before[1] if before else "",
                "session": session,
            },
        )
        return [KeptConversation(*row) for row in rows]

    async def list_turns(
        self,
        owner: str,
        session: str,
        databases: Collection[str],
        *,
        most: int,
        hours: int | None = None,
    ) -> list[KeptTurn]:
        """The last ``most`` turns of a conversation, oldest first; none older than ``hours``."""
        rows = await self._fetch(
            "SELECT number, database, question, rewritten, outcome, sql, asked_at,"
            " interpretations, confidence, quorum, origin FROM quorumsql.conversation_turns"
            " WHERE owner = %(owner)s AND session = %(session)s"
            " AND database = ANY (%(databases)s::text[])"
            " AND (%(hours)s::int IS NULL OR asked_at > now() - make_interval(hours => %(hours)s))"
            " ORDER BY number DESC LIMIT %(most)s",
            {
                "owner": owner,
                "session": session,
                "databases": list(databases),
                "hours": hours,
                "most": most,
            },
        )
        return [read_row(KeptTurn, row) for row in reversed(rows)]

    async def delete(self, *, owner: str = "", session: str = "") -> tuple[int, int]:
        """Deletes conversations; an empty ``owner`` or ``session`` means all of them.

        Returns the numbers of conversations and of questions.
        """
        chosen = {"owner": owner, "session": session}
        counts = []
        async with self._index.connection() as connection, connection.transaction():
            for table in ("conversation_turns", "conversations"):
                statement = f"DELETE FROM quorumsql.{table} {_CHOSEN}"
                counts.append((await connection.execute(statement.encode(), chosen)).rowcount)
        questions, conversations = counts
        return conversations, questions

    async def prune(self, days: int) -> int:
        """Deletes the expired conversations of all owners; returns their number."""
        return await self._change(
            f"DELETE FROM quorumsql.conversations c WHERE NOT ({_IS_KEPT})", {"days": days}
        )


def build_title(question: str) -> str:
    """The first question on one line, cut to 80 characters.

    >>> build_title("How many\\norders?"), len(build_title("long " * 50))
    ('How many orders?', 80)
    """
    text = " ".join(question.split())
    return text if len(text) <= _LONGEST_TITLE else f"{text[: _LONGEST_TITLE - 1]}…"
