"""The index: catalogs and embedded table cards in PostgreSQL with pgvector.

Lives in the schema ``quorumsql`` of its own database. A database's index is replaced in one
transaction, so readers see the old one until the new one is whole. Knows nothing of how cards are
made or embedded.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, sql
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from nl2sql.catalog import Catalog
from nl2sql.errors import IndexUnavailable
from retrieval.cards import Card

_CONNECT_TIMEOUT_S = 5
# A probe answers before whoever asked for it gives up.
_PROBE_TIMEOUT_S = 2

_TABLES = """
CREATE TABLE IF NOT EXISTS quorumsql.databases (
    database   text PRIMARY KEY,
    version    text NOT NULL,
    embedder   text NOT NULL,
    catalog    jsonb NOT NULL,
    indexed_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE IF NOT EXISTS quorumsql.table_cards (
    database   text NOT NULL REFERENCES quorumsql.databases ON DELETE CASCADE,
    table_name text NOT NULL,
    summary    text NOT NULL,
    card       text NOT NULL,
    sha256     text NOT NULL,
    embedding  vector NOT NULL,
    PRIMARY KEY (database, table_name)
);
"""

# HNSW wants a fixed dimension; an expression index a dimension serves any embedder
# (pgvector README, "Can I store vectors with different dimensions in the same column?").
_HNSW = """
CREATE INDEX IF NOT EXISTS {name} ON quorumsql.table_cards
 USING hnsw ((embedding::vector({dimensions})) vector_cosine_ops)
 WHERE vector_dims(embedding) = {dimensions}
"""

_NEAREST = """
SELECT table_name,
       1 - (embedding::vector({dimensions}) <=> %(vector)s) AS cosine,
       (SELECT version FROM quorumsql.databases d WHERE d.database = %(database)s) AS version
  FROM quorumsql.table_cards
 WHERE database = %(database)s AND vector_dims(embedding) = {dimensions}
   AND (%(among)s::text[] IS NULL OR table_name = ANY (%(among)s))
 ORDER BY embedding::vector({dimensions}) <=> %(vector)s
 LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class IndexedDatabase:
    """One database's index as it was read: cards and their vectors in the same order."""

    catalog: Catalog
    version: str
    embedder: str
    indexed_at: datetime
    cards: tuple[Card, ...]
    vectors: NDArray[np.float32]


class IndexStore:
    """Reads and writes the index through a small connection pool, opened at the first use."""

    def __init__(self, url: str, *, pool_size: int = 4) -> None:
        self._url = url
        self._pool_size = pool_size
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] | None = None
        self._opening = asyncio.Lock()

    async def prepare(self) -> None:
        """Creates the extension, the schema and the tables where they are missing."""
        try:
            async with await AsyncConnection.connect(
                self._url, autocommit=True, connect_timeout=_CONNECT_TIMEOUT_S
            ) as connection:
                present = await connection.execute(
                    "SELECT 1 FROM pg_extension WHERE extname = 'vector'"
                )
                if await present.fetchone() is None:
                    await connection.execute("CREATE EXTENSION vector")
                owned = await connection.execute(
                    "SELECT 1 FROM pg_namespace WHERE nspname = 'quorumsql'"
                )
                if await owned.fetchone() is None:
                    await connection.execute("CREATE SCHEMA quorumsql")
                await connection.execute(_TABLES)
        except psycopg.Error as error:
            raise IndexUnavailable(
                f"The index cannot be set up: {str(error).strip()}",
                hint="Its server needs pgvector, and its role the right to create the schema "
                "quorumsql; or leave index.connection out to use the embedded server.",
            ) from error

    async def load(self, database: str) -> IndexedDatabase | None:
        """The whole index of one database, or None when it was never indexed."""
        async with self._connection() as connection:
            row = await (
                await connection.execute(
                    "SELECT catalog, version, embedder, indexed_at FROM quorumsql.databases"
                    " WHERE database = %s",
                    (database,),
                )
            ).fetchone()
            if row is None:
                return None
            cards = await (
                await connection.execute(
                    "SELECT table_name, summary, card, embedding FROM quorumsql.table_cards"
                    " WHERE database = %s ORDER BY table_name",
                    (database,),
                )
            ).fetchall()
        return IndexedDatabase(
            catalog=Catalog.from_json(row[0]),
            version=row[1],
            embedder=row[2],
            indexed_at=row[3],
            cards=tuple(Card(*card[:3]) for card in cards),
            vectors=np.array([card[3].to_numpy() for card in cards], dtype=np.float32),
        )

    async def version(self, database: str) -> str:
        """The version of one database's index; empty when it was never indexed."""
        async with self._connection() as connection:
            cursor = await connection.execute(
                "SELECT version FROM quorumsql.databases WHERE database = %s", (database,)
            )
            row = await cursor.fetchone()
        return row[0] if row else ""

    async def replace(
        self,
        catalog: Catalog,
        cards: Sequence[Card],
        vectors: NDArray[np.float32],
        *,
        version: str,
        embedder: str,
    ) -> None:
        """Puts a new index in the place of the old one, in one transaction."""
        dimensions = int(vectors.shape[1]) if len(cards) else 0
        async with self._connection() as connection, connection.transaction():
            await connection.execute(
                "DELETE FROM quorumsql.databases WHERE database = %s", (catalog.database,)
            )
            await connection.execute(
                "INSERT INTO quorumsql.databases (database, version, embedder, catalog)"
                " VALUES (%s, %s, %s, %s)",
                (catalog.database, version, embedder, Jsonb(catalog.to_json())),
            )
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    "INSERT INTO quorumsql.table_cards VALUES (%s, %s, %s, %s, %s, %s)",
                    [
                        (catalog.database, card.table, card.summary, card.text, card.sha256, vector)
                        for card, vector in zip(cards, vectors, strict=True)
                    ],
                )
            if dimensions:
                await connection.execute(
                    sql.SQL(_HNSW).format(
                        name=sql.Identifier(f"table_cards_hnsw_{dimensions}"),
                        dimensions=sql.Literal(dimensions),
                    )
                )

    async def nearest(
        self,
        database: str,
        vector: NDArray[np.float32],
        limit: int,
        among: Collection[str] | None = None,
    ) -> tuple[list[tuple[str, float]], str]:
        """At most ``limit`` (table, cosine similarity), nearest first, and the index's version.

        ``among`` names the tables that may be seen; None means all.
        """
        async with self._connection() as connection:
            cursor = await connection.execute(
                sql.SQL(_NEAREST).format(dimensions=sql.Literal(len(vector))),
                {
                    "vector": vector,
                    "database": database,
                    "limit": limit,
                    "among": None if among is None else list(among),
                },
            )
            rows = await cursor.fetchall()
        return [(row[0], float(row[1])) for row in rows], rows[0][2] if rows else ""

    async def drop(self, database: str) -> bool:
        """Forgets one database's index; False when there was none."""
        async with self._connection() as connection:
            cursor = await connection.execute(
                "DELETE FROM quorumsql.databases WHERE database = %s", (database,)
            )
            return cursor.rowcount > 0

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """``(("index", what is wrong or empty),)``."""
        try:
            async with self._connection(_PROBE_TIMEOUT_S) as connection:
                await connection.execute("SELECT 1 FROM quorumsql.databases LIMIT 1")
        except IndexUnavailable as error:
            return (("index", str(error)),)
        return (("index", ""),)

    async def close(self) -> None:
        """Closes the pool; a later call opens it again."""
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    @asynccontextmanager
    async def _connection(
        self, timeout_s: float = _CONNECT_TIMEOUT_S
    ) -> AsyncIterator[AsyncConnection[Any]]:
        try:
            pool = await self._open()
            async with pool.connection(timeout=timeout_s) as connection:
                yield connection
        except (PoolTimeout, psycopg.Error) as error:
            raise IndexUnavailable(
                f"The index does not answer: {str(error).strip()}",
                hint="Is its PostgreSQL running, and was `quorumsql index` run? "
                "`quorumsql doctor` tells.",
            ) from error

    async def _open(self) -> AsyncConnectionPool[AsyncConnection[Any]]:
        async with self._opening:
            if self._pool is None:
                pool = AsyncConnectionPool(
                    self._url,
                    min_size=1,
                    max_size=self._pool_size,
                    open=False,
                    configure=_configure,
                    check=AsyncConnectionPool.check_connection,
                    reconnect_timeout=30,
                    kwargs={"connect_timeout": _CONNECT_TIMEOUT_S, "autocommit": True},
                    name="quorumsql-index",
                )
                await pool.open()
                self._pool = pool
            return self._pool


async def _configure(connection: AsyncConnection[Any]) -> None:
    await register_vector_async(connection)
    # Without it a filter on the database could starve the scan of a shared HNSW index.
    await connection.execute("SET hnsw.iterative_scan = strict_order")
