"""Shared queries in the index's PostgreSQL. The store does not call the guard: the caller does."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, fields
from datetime import datetime

from psycopg import sql

from retrieval.index_store.connections import Connections
from retrieval.index_store.stored_texts import clean_text


@dataclass(frozen=True, slots=True)
class Share:
    """A question and its query, which ``shared_by`` gave a link to.

    ``confidence``, ``quorum`` and ``origin`` are those of the answer that was shared; None and
    empty if the query is not that of an answer.
    """

    id: str
    shared_by: str
    database: str
    question: str
    sql: str
    shared_at: datetime
    confidence: float | None
    quorum: bool | None
    origin: str


_COLUMNS = sql.SQL(", ").join(sql.Identifier(field.name) for field in fields(Share))


class ShareStore:
    """Reads and writes shares. All methods raise IndexUnavailable."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def add(
        self, shared_by: str, database: str, question: str, query: str, *, owner: str
    ) -> str:
        """Stores a share; its id cannot be guessed.

        Its confidence is that of the latest answer with this query in the history of ``owner``,
        whose it is: what a client says of it could be made up.
        """
        id_ = secrets.token_urlsafe(16)
        async with self._store.connection() as connection:
            await connection.execute(
                "INSERT INTO quorumsql.shares"
                " (id, shared_by, owner, database, question, sql, confidence, quorum, origin)"
                " SELECT %(id)s, %(by)s, %(owner)s, %(database)s, %(question)s, %(query)s,"
                " t.confidence, t.quorum, coalesce(t.origin, '')"
                " FROM (VALUES (0)) one LEFT JOIN LATERAL ("
                " SELECT confidence, quorum, origin FROM quorumsql.conversation_turns"
                " WHERE owner = %(owner)s AND database = %(database)s AND sql = %(query)s"
                " AND %(question)s IN (question, rewritten)"
                " ORDER BY number DESC LIMIT 1) t ON true",
                {
                    "id": id_,
                    "by": shared_by,
                    "database": database,
                    "question": clean_text(question),
                    "query": clean_text(query),
                    "owner": owner,
                },
            )
        return id_

    async def find(self, id_: str, *, days: int) -> Share | None:
        """The share; None if there is none, or it is older than ``days`` (0: of any age)."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                sql.SQL(
                    "SELECT {columns} FROM quorumsql.shares WHERE id = %(id)s"
                    " AND (%(days)s = 0 OR shared_at > now() - make_interval(days => %(days)s))"
                ).format(columns=_COLUMNS),
                {"id": id_, "days": days},
            )
            row = await cursor.fetchone()
        return Share(*row) if row else None

    async def list_latest(
        self,
        owner: str,
        *,
        days: int,
        most: int,
        before: tuple[datetime, str] | None = None,
    ) -> list[Share]:
        """At most ``most`` shares of that owner that have not ended, the latest first.

        ``before`` is the time and the id of the last one of the page before.
        """
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                sql.SQL(
                    "SELECT {columns} FROM quorumsql.shares WHERE owner = %(owner)s"
                    " AND (%(days)s = 0 OR shared_at > now() - make_interval(days => %(days)s))"
                    " AND (%(before)s::timestamptz IS NULL"
                    " OR (shared_at, id) < (%(before)s, %(id)s))"
                    " ORDER BY shared_at DESC, id DESC LIMIT %(most)s"
                ).format(columns=_COLUMNS),
                {
                    "owner": owner,
                    "days": days,
                    "before": before[0] if before else None,
                    "id": before[1] if before else "",
                    "most": most,
                },
            )
            return [Share(*row) for row in await cursor.fetchall()]

    async def delete(self, id_: str, owner: str) -> bool:
        """Deletes a share of that owner; False if there is none."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM quorumsql.shares WHERE id = %s AND owner = %s", (id_, owner)
            )
            return cursor.rowcount > 0

    async def prune(self, days: int) -> int:
        """Deletes the shares that are older than ``days``; returns their number."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM quorumsql.shares WHERE shared_at <= now() - make_interval(days => %s)",
                (days,),
            )
            return cursor.rowcount
