"""Queries under ids that stand for them, in the index's PostgreSQL.

For people who see answers without SQL: they rate, share and pick a query by its id. Ids are random
and work for their owner alone. The store does not call the guard: the caller does.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

from retrieval.index_store.connections import Connections
from retrieval.index_store.stored_texts import clean_text

PREFIX = "ref_"

_ADD = b"""
INSERT INTO quorumsql.query_references (id, owner, session, database, hash, sql)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (owner, session, database, hash) DO UPDATE SET kept_at = now()
RETURNING id
"""


class ReferenceStore:
    """Reads and writes references. All methods raise IndexUnavailable."""

    def __init__(self, store: Connections) -> None:
        self._store = store

    async def add(
        self, owner: str, session: str, queries: Sequence[tuple[str, str]], *, keep_hours: int
    ) -> tuple[str, ...]:
        """The ids of queries, each (database, SQL); the same query of a session keeps its id.

        Deletes what is older than ``keep_hours``.
        """
        ids: dict[tuple[str, str], str] = {}
        async with self._store.connection() as connection:
            await connection.execute(
                "DELETE FROM quorumsql.query_references"
                " WHERE kept_at <= now() - make_interval(hours => %s)",
                (keep_hours,),
            )
            async with connection.transaction():
                # In one order, so that requests at the same time cannot wait for each other.
                for database, sql in sorted(set(queries)):
                    text = clean_text(sql)
                    hashed = hashlib.sha256(text.encode()).digest()
                    new = f"{PREFIX}{secrets.token_urlsafe(16)}"
                    cursor = await connection.execute(
                        _ADD, (new, owner, session, database, hashed, text)
                    )
                    row = await cursor.fetchone()
                    assert row is not None
                    ids[database, sql] = row[0]
        return tuple(ids[query] for query in queries)

    async def find(self, id_: str, owner: str, *, keep_hours: int) -> tuple[str, str] | None:
        """(database, SQL); None if the owner has no such reference, or it is too old."""
        async with self._store.connection() as connection:
            cursor = await connection.execute(
                "SELECT database, sql FROM quorumsql.query_references"
                " WHERE id = %s AND owner = %s AND kept_at > now() - make_interval(hours => %s)",
                (id_, owner, keep_hours),
            )
            row = await cursor.fetchone()
        return (row[0], row[1]) if row else None
