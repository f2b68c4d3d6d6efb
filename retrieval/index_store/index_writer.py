"""Writes the index of one database, under a lock that others who write it wait for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from psycopg import AsyncConnection, errors

from retrieval.index_store.indexed_database import (
    IndexedDatabase,
    IndexHead,
    NewIndex,
    delete_index,
    read_heads,
    read_index,
    read_known_vectors,
    write_index,
)


class IndexWriter:
    """Writes one database's index over a separate connection in autocommit mode."""

    def __init__(self, connection: AsyncConnection[Any], database: str) -> None:
        self._connection = connection
        self._database = database
        self._lock = f"quorumsql index {database}"

    async def lock(self, on_wait: Callable[[], None]) -> None:
        """Takes the database's lock; if another run holds it, calls ``on_wait`` and waits."""
        cursor = await self._connection.execute(
            "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", (self._lock,)
        )
        row = await cursor.fetchone()
        if row is None or not row[0]:
            on_wait()
            await self._connection.execute(
                "SELECT pg_advisory_lock(hashtextextended(%s, 0))", (self._lock,)
            )

    async def unlock(self) -> None:
        """Releases the lock; a broken connection is closed, which releases it too."""
        try:
            await self._connection.execute(
                "SELECT pg_advisory_unlock(hashtextextended(%s, 0))", (self._lock,)
            )
        except errors.Error:
            await self._connection.close()

    async def head(self) -> IndexHead | None:
        """The head of the present index."""
        heads = await read_heads(self._connection, self._database)
        return heads[0] if heads else None

    async def load(self) -> IndexedDatabase | None:
        """The present index."""
        head = await self.head()
        return None if head is None else await read_index(self._connection, head)

    async def known_vectors(self, embedder: str) -> dict[str, NDArray[Any]]:
        """The vectors that ``embedder`` made for the present index, by text."""
        index = await self.load()
        if index is None or index.head.embedder != embedder:
            return {}
        return await read_known_vectors(self._connection, index)

    async def replace(self, new: NewIndex) -> None:
        """Makes ``new`` the index. Raises KeyError if a card has no vector."""
        await write_index(self._connection, new)

    async def drop(self) -> bool:
        """Deletes the index; False if there was none."""
        return await delete_index(self._connection, self._database)
