"""The index: catalogs and embedded cards in PostgreSQL with pgvector.

All tables are in the schema ``quorumsql``. A database's index is replaced in one transaction. The
store does not build or embed cards.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, LiteralString

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection

from nl2sql.catalog import Catalog
from nl2sql.concurrency import SingleFlight
from nl2sql.connection_failures import explain_failure
from nl2sql.errors import IndexUnavailable
from nl2sql.idle_connections import IdleConnections
from retrieval.index_store.indexed_database import (
    CardKind,
    IndexedDatabase,
    IndexHead,
    IndexWriter,
    read_heads,
    read_index,
)
from retrieval.index_store.layout import check_layout, lock_layout, migrate, open_layout

_CONNECT_TIMEOUT_S = 5
# How long a caller waits while all connections are in use.
_TURN_TIMEOUT_S = 5
# Shorter than the timeout of those who call the probe.
_PROBE_TIMEOUT_S = 2
_FRESH_S = 1.0

# The search goes through many rows, so a row's distance is computed once.
_NEAREST: LiteralString = """
SELECT position, 1 - distance FROM (
    SELECT position, embedding <=> %(vector)s AS distance
      FROM quorumsql.card_vectors
     WHERE database = %(database)s AND kind = %(kind)s
       AND (%(among)s::bytea IS NULL OR get_bit(%(among)s::bytea, position) <> 0)
       AND EXISTS (SELECT FROM quorumsql.indexes
                    WHERE database = %(database)s AND version = %(version)s)
     ORDER BY distance, position LIMIT %(limit)s) AS nearest
"""
_LOCK = "SELECT {}(hashtextextended(%s, 0))"


class IndexStore:
    """Reads and writes the index through at most ``pool_size`` connections at a time.

    The first use migrates an index of an older layout. All methods raise IndexUnavailable if the
    index does not answer, was not set up, has a newer layout or cannot be migrated.
    """

    def __init__(self, url: str, *, pool_size: int = 4) -> None:
        self._url = url
        self._turns = asyncio.Semaphore(pool_size)
        self._idle = IdleConnections(self._connect)
        self._is_checked = False
        # Database → when its index was read or found unchanged, and the index.
        self._known: dict[str, tuple[float, IndexedDatabase]] = {}
        self._loading = SingleFlight[IndexedDatabase]()

    # -- setting up ----------------------------------------------------------------------------

    async def prepare(self) -> None:
        """Creates the extension and the schema if they are missing; runs missing migrations."""
        try:
            async with await AsyncConnection.connect(
                self._url, autocommit=True, connect_timeout=_CONNECT_TIMEOUT_S
            ) as connection:
                await _prepare(connection)
        except psycopg.Error as error:
            raise IndexUnavailable(
                f"The index cannot be set up: {str(error).strip()}",
                hint="Its server needs pgvector, and its role the right to create the schema "
                "quorumsql; or leave index.connection out to use the embedded server.",
            ) from error

    async def drop_everything(self) -> None:
        """Drops the schema: indexes, values and examples of all databases, in any layout."""
        async with self._connect_unchecked() as connection:
            await connection.execute("DROP SCHEMA IF EXISTS quorumsql CASCADE")
        self._is_checked = False

    # -- reading -------------------------------------------------------------------------------

    async def heads(self) -> list[IndexHead]:
        """The heads of all databases' indexes, sorted by name."""
        async with self.connection() as connection:
            return await read_heads(connection)

    async def catalog(self, database: str) -> Catalog:
        """The indexed catalog; the same object while it is unchanged. Raises as ``load`` does.

        It is asked for once a second, so that a table dropped from the index is refused then.
        """
        checked_at, index = self._known.get(database, (0.0, None))
        if index is None or time.monotonic() - checked_at >= _FRESH_S:
            index = await self.load(database)
        return index.catalog

    async def load(self, database: str) -> IndexedDatabase:
        """The index of one database, one object for all callers.

        Raises IndexUnavailable also if it was never indexed.
        """
        return await self._loading.run(database, lambda: self._load(database))

    async def _load(self, database: str) -> IndexedDatabase:
        _, index = self._known.get(database, (0.0, None))
        async with self.connection() as connection, connection.transaction():
            await connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            heads = await read_heads(connection, database)
            if not heads:
                raise refuse_unindexed(database)
            if index is None or index.head.version != heads[0].version:
                index = await read_index(connection, heads[0])
        self._known[database] = (time.monotonic(), index)
        return index

    async def nearest(
        self,
        head: IndexHead,
        kind: CardKind,
        vector: NDArray[np.float32],
        limit: int,
        among: bytes | None = None,
    ) -> list[tuple[int, float]]:
        """At most ``limit`` (position in ``cards``, cosine similarity), nearest first.

        ``among`` are the visible positions (``pack_positions``); None means all. The search sorts
        the vectors of one database, which is exact. Nothing if another index replaced that of
        ``head``, whose positions have other cards.
        """
        parameters = {
            "vector": HalfVector(vector),
            "database": head.database,
            "kind": kind,
            "version": head.version,
            "among": among,
            "limit": limit,
        }
        async with self.connection() as connection:
            cursor = await connection.execute(_NEAREST, parameters)
            return [(position, float(cosine)) for position, cosine in await cursor.fetchall()]

    # -- writing -------------------------------------------------------------------------------

    @asynccontextmanager
    async def writer(
        self, database: str, on_wait: Callable[[], None] = lambda: None
    ) -> AsyncIterator[IndexWriter]:
        """The only writer of the index of ``database``.

        If another writer is active, calls ``on_wait`` and waits for its end.
        """
        lock = (f"quorumsql index {database}",)
        async with self.connection() as connection:
            taken = await connection.execute(_LOCK.format("pg_try_advisory_lock").encode(), lock)
            if await taken.fetchone() != (True,):
                on_wait()
                await connection.execute(_LOCK.format("pg_advisory_lock").encode(), lock)
            try:
                yield IndexWriter(connection, database)
            finally:
                try:
                    await connection.execute(_LOCK.format("pg_advisory_unlock").encode(), lock)
                except psycopg.Error:
                    # That releases it, too.
                    await connection.close()

    async def drop(self, database: str) -> bool:
        """Deletes one database's index; False if there was none."""
        async with self.writer(database) as writer:
            return await writer.drop()

    # -- connections ---------------------------------------------------------------------------

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """``(("index", problem),)``, empty if all is well; waits for no other use of the index."""
        try:
            async with await AsyncConnection.connect(
                self._url, autocommit=True, connect_timeout=_PROBE_TIMEOUT_S
            ) as connection:
                await check_layout(connection)
                await connection.execute("SELECT 1 FROM quorumsql.indexes LIMIT 1")
        except IndexUnavailable as error:
            return (("index", error.details),)
        except psycopg.Error as error:
            return (("index", _no_answer(explain_failure(error)).details),)
        return (("index", ""),)

    async def close(self) -> None:
        """Closes the connections that are not in use; a later call opens others."""
        await self._idle.close()

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        """A connection in autocommit mode, also for the other stores."""
        async with self._connect_unchecked() as connection:
            if not self._is_checked:
                await open_layout(connection)
                self._is_checked = True
            yield connection

    @asynccontextmanager
    async def _connect_unchecked(self) -> AsyncIterator[AsyncConnection[Any]]:
        since = time.monotonic()
        try:
            async with asyncio.timeout(_TURN_TIMEOUT_S):
                await self._turns.acquire()
        except TimeoutError as error:
            raise IndexUnavailable("The index is busy.", hint="Try again later.") from error
        try:
            async with self._idle.lend(since) as connection:
                yield connection
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
            self._is_checked = False
            raise IndexUnavailable(
                "Tables of the index are missing.",
                hint="Run `quorumsql index build`. If only some of its tables are missing, "
                "restore them from a backup.",
                said=str(error),
            ) from error
        except psycopg.errors.DiskFull as error:
            raise IndexUnavailable(
                "The disk of the index is full.",
                hint="Free disk space and run `quorumsql index build` again. The previous index "
                "stays in service.",
                said=str(error).partition("\n")[0],
            ) from error
        except psycopg.Error as error:
            raise _no_answer(str(error)) from error
        finally:
            self._turns.release()

    async def _connect(self) -> AsyncConnection[Any]:
        try:
            # psycopg's limit applies to each address and each step, this one to all of them.
            async with asyncio.timeout(_CONNECT_TIMEOUT_S):
                connection = await AsyncConnection.connect(
                    self._url, autocommit=True, connect_timeout=_CONNECT_TIMEOUT_S
                )
                try:
                    await register_vector_async(connection)
                except BaseException:
                    await connection.close()
                    raise
                return connection
        except (TimeoutError, psycopg.Error) as error:
            raise _no_answer(explain_failure(error)) from error


def refuse_unindexed(database: str) -> IndexUnavailable:
    """The error for a database without an index."""
    return IndexUnavailable(
        f"The database {database!r} has not been indexed.",
        hint=f"Run `quorumsql index build {database}`.",
    )


def _no_answer(said: str) -> IndexUnavailable:
    return IndexUnavailable("The index does not answer.", hint="Try again later.", said=said)


async def _prepare(connection: AsyncConnection[Any]) -> None:
    async with connection.transaction():
        # Otherwise two concurrent calls would both find the schema missing.
        await lock_layout(connection)
        present = await connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'")
        if await present.fetchone() is None:
            await connection.execute("CREATE EXTENSION vector")
        # Not "IF NOT EXISTS": that needs the right to create even if the schema exists.
        owned = await connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'quorumsql'")
        if await owned.fetchone() is None:
            await connection.execute("CREATE SCHEMA quorumsql")
    await migrate(connection)
