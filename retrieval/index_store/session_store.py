"""Turns of sessions in the index's PostgreSQL, each under the hash of who may read it.

Knows nothing of guards and principals: whoever shows a turn asks a guard first. A turn holds the
question and its queries, never a cell of a result.
"""

from __future__ import annotations

from nl2sql.types import Turn
from retrieval.index_store.connections import Connections


class SessionStore:
    """Reads and writes turns through the index store's pool. All raise IndexUnavailable."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def load(
        self, owner: str, session: str, database: str, *, most: int, keep_hours: int
    ) -> tuple[Turn, ...]:
        """At most so many turns, the last ones, oldest first; none older than ``keep_hours``."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT question, outcome, sql, readings FROM quorumsql.session_turns"
                " WHERE owner = %s AND session = %s AND database = %s"
                " AND asked_at > now() - make_interval(hours => %s)"
                " ORDER BY number DESC LIMIT %s",
                (owner, session, database, keep_hours, most),
            )
            rows = await cursor.fetchall()
        return tuple(Turn(row[0], row[1], row[2], tuple(row[3])) for row in reversed(rows))

    async def add(
        self, owner: str, session: str, database: str, turn: Turn, *, most: int, keep_hours: int
    ) -> None:
        """Adds a turn; drops what is too old in any session, and what is too many in this one."""
        async with self._store.connection() as connection, connection.transaction():
            await connection.execute(
                "INSERT INTO quorumsql.session_turns"
                " (owner, session, database, question, outcome, sql, readings)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (
                    owner,
                    session,
                    database,
                    _clean(turn.question),
                    turn.outcome,
                    _clean(turn.sql),
                    [_clean(interpretation) for interpretation in turn.interpretations],
                ),
            )
            await connection.execute(
                "DELETE FROM quorumsql.session_turns"
                " WHERE asked_at <= now() - make_interval(hours => %s)",
                (keep_hours,),
            )
            await connection.execute(
                "DELETE FROM quorumsql.session_turns"
                " WHERE owner = %(owner)s AND session = %(session)s AND number <= ("
                " SELECT number FROM quorumsql.session_turns"
                " WHERE owner = %(owner)s AND session = %(session)s"
                " ORDER BY number DESC OFFSET %(most)s LIMIT 1)",
                {"owner": owner, "session": session, "most": most},
            )

    async def forget(self, owner: str, session: str) -> int:
        """How many turns of that owner's session there were, and are no more."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM quorumsql.session_turns WHERE owner = %s AND session = %s",
                (owner, session),
            )
            return cursor.rowcount

    async def forget_all(self, *, owner: str = "", session: str = "") -> int:
        """As ``forget``, of every owner or every session where none is named."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM quorumsql.session_turns WHERE (%(owner)s = '' OR owner = %(owner)s)"
                " AND (%(session)s = '' OR session = %(session)s)",
                {"owner": owner, "session": session},
            )
            return cursor.rowcount


def _clean(text: str) -> str:
    """What PostgreSQL can hold of a text: no NUL, no half of a character."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
