"""Turns of sessions in the index's PostgreSQL, stored under the hash of their owner.

The store does not call the guard: the caller does, before it shows a turn. A turn holds the
question and its queries, never values of a result.
"""

from __future__ import annotations

from nl2sql.types import Turn
from retrieval.index_store.connections import Connections
from retrieval.index_store.stored_texts import clean_text


class SessionStore:
    """Reads and writes turns. All methods raise IndexUnavailable."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def load(
        self, owner: str, session: str, database: str, *, most: int, keep_hours: int
    ) -> tuple[Turn, ...]:
        """The last ``most`` turns, oldest first; none older than ``keep_hours``."""
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
        """Adds a turn; deletes expired turns of all sessions, and all but ``most`` of this one."""
        async with self._store.connection() as connection, connection.transaction():
            await connection.execute(
                "INSERT INTO quorumsql.session_turns"
                " (owner, session, database, question, outcome, sql, readings)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s)",
                (
                    owner,
                    session,
                    database,
                    clean_text(turn.question),
                    turn.outcome,
                    clean_text(turn.sql),
                    [clean_text(interpretation) for interpretation in turn.interpretations],
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
        """Deletes the turns of that owner's session and returns their number."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM quorumsql.session_turns WHERE owner = %s AND session = %s",
                (owner, session),
            )
            return cursor.rowcount

    async def forget_all(self, *, owner: str = "", session: str = "") -> int:
        """Like ``forget``; an empty ``owner`` or ``session`` means all of them."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM quorumsql.session_turns WHERE (%(owner)s = '' OR owner = %(owner)s)"
                " AND (%(session)s = '' OR session = %(session)s)",
                {"owner": owner, "session": session},
            )
            return cursor.rowcount
