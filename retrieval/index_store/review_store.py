"""Feedback on answers as reviewers work through it, in the index's PostgreSQL.

The store does not call the guard: the caller does, before it shows an entry.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from retrieval.index_store.connections import Connections

_COLUMNS = (
    "id, database, question, sql, is_right, correction, given_by, given_at, reviewed_by,"
    " reviewed_at, corrected_with"
)


@dataclass(frozen=True, slots=True)
class ReviewEntry:
    """Feedback on one answer; ``reviewed_by`` is empty while nobody has worked through it.

    ``corrected_with`` is the id of the feedback whose correction closed it; empty: none did.
    """

    id: str
    database: str
    question: str
    sql: str
    is_right: bool
    correction: str
    given_by: str
    given_at: datetime
    reviewed_by: str
    reviewed_at: datetime | None
    corrected_with: str


class ReviewStore:
    """Reads feedback, and marks it as done. All methods raise IndexUnavailable."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def list_entries(
        self,
        databases: Collection[str],
        *,
        is_right: bool,
        is_done: bool,
        before: tuple[datetime, str] | None,
        most: int,
    ) -> list[ReviewEntry]:
        """At most ``most`` entries, the latest first; ``before`` is the time and id of one."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                f"SELECT {_COLUMNS} FROM quorumsql.feedback"
                " WHERE database = ANY (%(databases)s::text[]) AND is_right = %(is_right)s"
                " AND (reviewed_by <> '') = %(is_done)s"
                " AND (%(before)s::timestamptz IS NULL"
                " OR (given_at, id) < (%(before)s, %(before_id)s))"
                " ORDER BY given_at DESC, id DESC LIMIT %(most)s".encode(),
                {
                    "databases": list(databases),
                    "is_right": is_right,
                    "is_done": is_done,
                    "before": before[0] if before else None,
                    "before_id": before[1] if before else "",
                    "most": most,
                },
            )
            return [ReviewEntry(*row) for row in await cursor.fetchall()]

    async def find(self, id_: str) -> ReviewEntry | None:
        """The entry of that id."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                f"SELECT {_COLUMNS} FROM quorumsql.feedback WHERE id = %s".encode(), (id_,)
            )
            row = await cursor.fetchone()
        return ReviewEntry(*row) if row else None

    async def close_corrected(self, correction_id: str, *, all_givers: bool) -> None:
        """Closes open feedback on the same wrong answer as that whose correction was stored.

        With ``all_givers`` whoever gave it, and that feedback too; else what the same person gave
        before without a correction.
        """
        async with self._store.connection() as connection:
            await connection.execute(
                "UPDATE quorumsql.feedback AS other SET reviewed_by = given.given_by,"
                " reviewed_at = now(), corrected_with = given.id FROM quorumsql.feedback AS given"
                " WHERE given.id = %(id)s AND other.database = given.database"
                " AND other.question = given.question AND other.sql = given.sql"
                " AND NOT other.is_right AND other.reviewed_by = ''"
                " AND (%(all_givers)s OR other.correction = '' AND other.id <> given.id"
                " AND other.given_by = given.given_by AND other.access = given.access)",
                {"id": correction_id, "all_givers": all_givers},
            )

    async def close(self, id_: str, reviewed_by: str) -> None:
        """Marks an entry as done, unless it is."""
        async with self._store.connection() as connection:
            await connection.execute(
                "UPDATE quorumsql.feedback SET reviewed_by = %s, reviewed_at = now()"
                " WHERE id = %s AND reviewed_by = ''",
                (reviewed_by, id_),
            )
