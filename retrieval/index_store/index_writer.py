"""Writes the index of one database: vectors batch by batch, then a whole generation at once.

Each batch of vectors is stored by the hashes of their texts, so an interrupted run loses at most
one batch. The generation is written, indexed and made live in one transaction: until it commits,
readers see the previous generation, and a killed run leaves nothing behind. Equal columns of
several tables are stored as one row, and so are equal texts of column cards.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import AsyncConnection, errors, sql

from nl2sql.catalog import Catalog, Column, ForeignKey
from retrieval.index_store.cards import Cards
from retrieval.index_store.generations import (
    IndexHead,
    create_generation,
    drop_generation,
    name_part,
    read_heads,
)

Progress = Callable[[int, int], None]

# pgvector's limit for an HNSW index over halfvec.
_MOST_DIMENSIONS = 4000
# Memory for each card while its HNSW index is built, in addition to the vector (m = 16): measured.
_GRAPH_BYTES = 700
_LEAST_BUILD_MIB = 64
_MOST_BUILD_MIB = 2048
_ROWS_A_REPORT = 1000

_INSERT_HEAD: LiteralString = """
INSERT INTO quorumsql.generations
       (database, live, version, fingerprint, embedder, dimensions, dialect, search_path,
        tables, columns, column_cards, foreign_keys, inferred_keys)
VALUES (%s, false, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
RETURNING generation
"""

_GATHER: LiteralString = """
INSERT INTO {vectors}
SELECT d.position, d.sha256, coalesce(p.embedding, o.embedding)
  FROM {defs} d
  LEFT JOIN quorumsql.pending_vectors p
    ON p.database = %(database)s AND p.embedder = %(embedder)s AND p.sha256 = d.sha256
  LEFT JOIN ({old}) o ON o.sha256 = d.sha256
 ORDER BY d.position
"""
_NO_OLD: LiteralString = "SELECT NULL::bytea AS sha256, NULL::halfvec AS embedding WHERE false"
_OLD: LiteralString = """
SELECT DISTINCT ON (sha256) sha256, embedding
  FROM (SELECT sha256, embedding FROM {tables}
        UNION ALL SELECT sha256, embedding FROM {columns}) either
 ORDER BY sha256
"""


@dataclass(frozen=True, slots=True)
class NewGeneration:
    """The content of a new index. ``cards`` are those of ``catalog``, in its order."""

    catalog: Catalog
    cards: Cards
    version: str
    fingerprint: str
    embedder: str


async def write_generation(
    connection: AsyncConnection[Any],
    new: NewGeneration,
    old: IndexHead | None,
    progress: Progress = lambda done, total: None,
) -> int:
    """Writes a generation that is not live yet, and returns its number.

    Vectors come from the live index ``old`` and from the pending ones. Raises psycopg's
    NotNullViolation if a card has no vector.
    """
    if old is not None and old.embedder != new.embedder:
        old = None
    dimensions = await _read_dimensions(connection, new, old)
    generation = await _insert_head(connection, new, dimensions)
    await connection.execute(create_generation(generation, dimensions))
    await _copy_rows(connection, generation, new, progress)
    progress(0, 0)  # the progress of a search index is unknown
    for part, defs in (("table_vectors", "table_defs"), ("column_vectors", "column_cards")):
        await _gather_vectors(connection, generation, part, defs, new, old)
        await _build_search_index(connection, generation, part, dimensions, new.cards)
    return generation


async def _read_dimensions(
    connection: AsyncConnection[Any], new: NewGeneration, old: IndexHead | None
) -> int:
    """The dimensions of the embedder's vectors; 0 if there is no vector."""
    cursor = await connection.execute(
        "SELECT vector_dims(embedding) FROM quorumsql.pending_vectors"
        " WHERE database = %s AND embedder = %s LIMIT 1",
        (new.catalog.database, new.embedder),
    )
    row = await cursor.fetchone()
    if row is not None:
        return int(row[0])
    return old.dimensions if old is not None else 0


async def _insert_head(
    connection: AsyncConnection[Any], new: NewGeneration, dimensions: int
) -> int:
    catalog = new.catalog
    cursor = await connection.execute(
        _INSERT_HEAD,
        (
            catalog.database,
            new.version,
            new.fingerprint,
            new.embedder,
            dimensions,
            catalog.dialect,
            list(catalog.search_path),
            len(catalog.tables),
            sum(len(table.columns) for table in catalog.tables),
            len(new.cards.columns),
            len(catalog.foreign_keys),
            len(catalog.inferred_keys),
        ),
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


async def _copy_rows(
    connection: AsyncConnection[Any], generation: int, new: NewGeneration, progress: Progress
) -> None:
    catalog, cards = new.catalog, new.cards
    columns = {
        column: at
        for at, column in enumerate(
            dict.fromkeys(column for table in catalog.tables for column in table.columns)
        )
    }
    texts = {name: at for at, card in enumerate(cards.columns) for name in card.columns}
    keys = (*catalog.foreign_keys, *catalog.inferred_keys)
    total = len(columns) + len(catalog.tables) + len(cards.columns) + len(keys)
    done = 0

    async def copy(part: str, rows: Iterable[Sequence[object]]) -> None:
        nonlocal done
        statement = sql.SQL("COPY {} FROM STDIN").format(name_part(part, generation))
        async with connection.cursor() as cursor, cursor.copy(statement) as stream:
            for at, row in enumerate(rows):
                await stream.write_row((at, *row))
                done += 1
                if done % _ROWS_A_REPORT == 0:
                    progress(done, total)

    await copy("column_defs", map(_list_column, columns))
    await copy("table_defs", _list_tables(catalog, cards, columns, texts))
    await copy("column_cards", ((card.text, bytes.fromhex(card.sha256)) for card in cards.columns))
    await copy("foreign_keys", map(_list_key, keys))
    progress(total, total)


def _list_column(column: Column) -> Sequence[object]:
    return column.name, column.type, column.nullable, column.comment


def _list_tables(
    catalog: Catalog, cards: Cards, columns: dict[Column, int], texts: dict[str, int]
) -> Iterable[Sequence[object]]:
    for table, card in zip(catalog.tables, cards.tables, strict=True):
        qualified = table.qualified
        yield (
            table.schema,
            table.name,
            table.kind,
            table.comment,
            table.definition,
            list(table.primary_key),
            [columns[column] for column in table.columns],
            [texts[f"{qualified}.{column.name}"] for column in table.columns],
            card.summary,
            card.text,
            bytes.fromhex(card.sha256),
        )


def _list_key(key: ForeignKey) -> Sequence[object]:
    return (
        key.name,
        key.table,
        list(key.columns),
        key.target,
        list(key.target_columns),
        key.inferred,
    )


async def _gather_vectors(
    connection: AsyncConnection[Any],
    generation: int,
    part: str,
    defs: str,
    new: NewGeneration,
    old: IndexHead | None,
) -> None:
    known: sql.Composable = sql.SQL(_NO_OLD)
    if old is not None:
        known = sql.SQL(_OLD).format(
            tables=name_part("table_vectors", old.generation),
            columns=name_part("column_vectors", old.generation),
        )
    await connection.execute(
        sql.SQL(_GATHER).format(
            vectors=name_part(part, generation), defs=name_part(defs, generation), old=known
        ),
        {"database": new.catalog.database, "embedder": new.embedder},
    )


async def _build_search_index(
    connection: AsyncConnection[Any], generation: int, part: str, dimensions: int, cards: Cards
) -> None:
    """Runs after the rows are inserted: several times faster than updating the index by row."""
    vectors = name_part(part, generation)
    if 0 < dimensions <= _MOST_DIMENSIONS:
        count = max(len(cards.tables), len(cards.columns))
        needed = count * (2 * dimensions + _GRAPH_BYTES) // 2**20
        memory = min(max(needed, _LEAST_BUILD_MIB), _MOST_BUILD_MIB)
        # One process: parallel workers need shared memory, of which containers have little.
        await connection.execute(
            sql.SQL(
                "SET LOCAL maintenance_work_mem = {};"
                " SET LOCAL max_parallel_maintenance_workers = 0"
            ).format(f"{memory}MB")
        )
        await connection.execute(
            sql.SQL("CREATE INDEX {} ON {} USING hnsw (embedding halfvec_cosine_ops)").format(
                sql.Identifier(f"{part}_{generation}_hnsw"), vectors
            )
        )
    await connection.execute(sql.SQL("ANALYZE {}").format(vectors))


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
