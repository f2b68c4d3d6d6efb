"""Writes the index of one database: vectors batch by batch, then a whole generation at once.

Each batch of vectors is stored by the hashes of their texts, so an interrupted run loses at most
one batch. The generation is written, indexed and made live in one transaction: until it commits,
readers see the previous generation, and a killed run leaves nothing behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import AsyncConnection, errors, sql

from retrieval.index_store.generation_tables import drop_generation, name_part
from retrieval.index_store.generation_writer import NewGeneration, Progress, write_generation
from retrieval.index_store.head import IndexHead, read_heads

_DROP_ATTEMPTS = 5
_BETWEEN_ATTEMPTS_S = 0.5


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
        """The head of the live generation."""
        heads = await read_heads(self._connection, self._database)
        return heads[0] if heads else None

    async def known_hashes(self, embedder: str) -> set[bytes]:
        """The hashes of all texts that have a vector, in the live index or pending."""
        head = await self.head()
        query = sql.SQL(
            "SELECT sha256 FROM quorumsql.pending_vectors WHERE database = %s AND embedder = %s"
        ).format()
        if head is not None and head.embedder == embedder:
            for part in ("table_vectors", "column_vectors"):
                query += sql.SQL(" UNION SELECT sha256 FROM {}").format(
                    name_part(part, head.generation)
                )
        cursor = await self._connection.execute(query, (self._database, embedder))
        return {bytes(row[0]) for row in await cursor.fetchall()}

    async def add_vectors(
        self, embedder: str, hashes: Sequence[bytes], vectors: NDArray[np.float32]
    ) -> None:
        """Stores vectors of new texts; they are committed when this returns."""
        async with (
            self._connection.cursor() as cursor,
            cursor.copy("COPY quorumsql.pending_vectors FROM STDIN (FORMAT BINARY)") as copy,
        ):
            copy.set_types(["text", "text", "bytea", "halfvec"])
            for sha256, vector in zip(hashes, vectors, strict=True):
                await copy.write_row((self._database, embedder, sha256, HalfVector(vector)))

    async def replace(
        self, new: NewGeneration, progress: Progress = lambda done, total: None
    ) -> IndexHead:
        """Makes ``new`` the live index. The vectors of all its cards must be stored.

        ``progress(done, total)`` counts rows; the total is 0 while search indexes are built.
        """
        old = await self.head()
        async with self._connection.transaction():
            generation = await write_generation(self._connection, new, old, progress)
            await self._connection.execute(
                "UPDATE quorumsql.generations SET live = (generation = %s)"
                " WHERE database = %s AND (live OR generation = %s)",
                (generation, self._database, generation),
            )
            await self._connection.execute(
                "DELETE FROM quorumsql.pending_vectors WHERE database = %s", (self._database,)
            )
        await self.clean_up()
        head = await self.head()
        assert head is not None
        return head

    async def drop(self) -> bool:
        """Deletes the index and all pending vectors; False if no generation was live."""
        async with self._connection.transaction():
            cursor = await self._connection.execute(
                "UPDATE quorumsql.generations SET live = false WHERE database = %s AND live",
                (self._database,),
            )
            await self._connection.execute(
                "DELETE FROM quorumsql.pending_vectors WHERE database = %s", (self._database,)
            )
        await self.clean_up()
        return cursor.rowcount > 0

    async def clean_up(self) -> None:
        """Drops generations that are not live; one that is being read is left to the next run."""
        cursor = await self._connection.execute(
            "SELECT generation FROM quorumsql.generations WHERE database = %s AND NOT live",
            (self._database,),
        )
        for (generation,) in await cursor.fetchall():
            await self._drop_generation(generation)

    async def _drop_generation(self, generation: int) -> None:
        for _ in range(_DROP_ATTEMPTS):
            try:
                async with self._connection.transaction():
                    # Readers queue behind a waiting drop, so it must not wait long.
                    await self._connection.execute("SET LOCAL lock_timeout = '100ms'")
                    await self._connection.execute(drop_generation(generation))
                    await self._connection.execute(
                        "DELETE FROM quorumsql.generations WHERE generation = %s", (generation,)
                    )
                return
            except errors.LockNotAvailable:
                await asyncio.sleep(_BETWEEN_ATTEMPTS_S)
