"""The index of one database: its head, its tables with their cards, and the vectors of the cards.

A table with its card is a row of JSON, because the index reads and writes whole tables only.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from psycopg import AsyncConnection
from pydantic import TypeAdapter

from nl2sql.catalog import Catalog, ForeignKey, Table
from retrieval.index_store.cards import Card, Cards, collect_cards
from retrieval.index_store.table_store import insert, read_row

CardKind = Literal["table", "column"]
Vectors = NDArray[np.float16]
Connection = AsyncConnection[Any]


@dataclass(frozen=True, slots=True)
class IndexHead:
    """What is known about one database's index without reading it.

    ``version`` changes with everything that search reads, ``fingerprint`` only with the schema.
    """

    database: str
    version: str
    fingerprint: str
    embedder: str
    dialect: str
    search_path: tuple[str, ...]
    tables: int
    columns: int
    indexed_at: datetime


@dataclass(frozen=True)
class IndexedDatabase:
    """One index in memory; ``vectors`` has a row for each table, the vectors of columns are not
    read.
    """

    head: IndexHead
    catalog: Catalog
    cards: Cards
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class _IndexedTable:
    table: Table
    card: Card


_TABLE = TypeAdapter(_IndexedTable)
_KEYS = TypeAdapter(tuple[ForeignKey, ...])
_HEAD = ", ".join(field.name for field in fields(IndexHead))
# Rows of a message; between two messages the event loop runs other tasks.
_CHUNK = 1000


async def read_heads(connection: Connection, database: str | None = None) -> list[IndexHead]:
    """The head of one database's index, or those of all databases sorted by name."""
    cursor = await connection.execute(
        f"SELECT {_HEAD} FROM quorumsql.indexes"
        " WHERE %(database)s::text IS NULL OR database = %(database)s ORDER BY database".encode(),
        {"database": database},
    )
    return [read_row(IndexHead, row) for row in await cursor.fetchall()]


async def read_index(connection: Connection, head: IndexHead) -> IndexedDatabase:
    """The index of ``head``, read in the transaction that the head was read in."""
    name = (head.database,)
    stored: list[_IndexedTable] = []
    rows = _stream(
        connection,
        "SELECT body::text FROM quorumsql.indexed_tables WHERE database = %s ORDER BY position",
        name,
    )
    async for (body,) in rows:
        stored.append(_TABLE.validate_json(body))
    cursor = await connection.execute(
        "SELECT foreign_keys::text FROM quorumsql.indexes WHERE database = %s", name
    )
    row = await cursor.fetchone()
    keys = _KEYS.validate_json(row[0]) if row else ()
    catalog = Catalog(
        head.database,
        tuple(each.table for each in stored),
        foreign_keys=tuple(key for key in keys if not key.inferred),
        search_path=head.search_path,
        dialect=head.dialect,
        inferred_keys=tuple(key for key in keys if key.inferred),
    )
    cards = collect_cards(catalog, tuple(each.card for each in stored))
    vectors = await _read_vectors(connection, head.database, "table")
    return IndexedDatabase(head, catalog, cards, vectors)


def hash_shape(table: Table) -> str:
    """A hash of the names and types of the columns, whatever their order."""
    columns = sorted((column.name, column.type) for column in table.columns)
    text = ",".join(" ".join(column) for column in columns)
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def pack_positions(positions: Sequence[int], size: int) -> bytes:
    """The positions, below ``size``, as bits: those of 100,000 tables take 12.5 kB in a query.

    >>> pack_positions([0, 9], 12).hex()
    '0102'
    """
    flags: NDArray[Any] = np.zeros(size, dtype=np.bool_)
    flags[list(positions)] = True
    return np.packbits(flags, bitorder="little").tobytes()


async def _read_vectors(connection: Connection, database: str, kind: CardKind) -> Vectors:
    rows = _stream(
        connection,
        "SELECT embedding FROM quorumsql.card_vectors WHERE database = %s AND kind = %s"
        " ORDER BY position",
        (database, kind),
        binary=True,
    )
    found = [vector.to_numpy() async for (vector,) in rows]
    return np.array(found, dtype=np.float16)


async def _stream(
    connection: Connection, query: str, parameters: Sequence[str], *, binary: bool = False
) -> AsyncIterator[tuple[Any, ...]]:
    async with connection.cursor(binary=binary) as cursor:
        async for row in cursor.stream(query.encode(), parameters, size=_CHUNK):
            yield row


class IndexWriter:
    """Writes one database's index, over a connection of its own in autocommit mode."""

    def __init__(self, connection: Connection, database: str) -> None:
        self._connection = connection
        self._database = database

    async def load(self) -> IndexedDatabase | None:
        """The present index."""
        heads = await read_heads(self._connection, self._database)
        return await read_index(self._connection, heads[0]) if heads else None

    async def read_vectors(self, index: IndexedDatabase) -> dict[str, NDArray[Any]]:
        """All vectors of the present index, by text."""
        columns = await _read_vectors(self._connection, self._database, "column")
        tables = zip((card.summary for card in index.cards.tables), index.vectors, strict=True)
        texts = zip((card.text for card in index.cards.columns), columns, strict=True)
        return {**dict(tables), **dict(texts)}

    async def replace(
        self, head: IndexHead, catalog: Catalog, cards: Cards, vectors: Mapping[str, NDArray[Any]]
    ) -> None:
        """Makes this the index, in one transaction: readers see the old one until then.

        ``cards`` are those of ``catalog``, in its order. Raises KeyError if one has no vector.
        """
        name = self._database
        keys = _KEYS.dump_json(catalog.keys).decode()
        async with self._connection.transaction():
            await self.drop()
            await insert(self._connection, "indexes", [asdict(head) | {"foreign_keys": keys}])
            async with (
                self._connection.cursor() as cursor,
                cursor.copy("COPY quorumsql.indexed_tables FROM STDIN") as copy,
            ):
                for at, (table, card) in enumerate(zip(catalog.tables, cards.tables, strict=True)):
                    body = _TABLE.dump_json(_IndexedTable(table, card)).decode()
                    await copy.write_row((name, at, body, table.qualified, hash_shape(table)))
            texts: dict[CardKind, list[str]] = {
                "table": [card.summary for card in cards.tables],
                "column": [card.text for card in cards.columns],
            }
            async with (
                self._connection.cursor() as cursor,
                cursor.copy("COPY quorumsql.card_vectors FROM STDIN (FORMAT BINARY)") as copy,
            ):
                copy.set_types(["text", "text", "int4", "halfvec"])
                for kind, embedded in texts.items():
                    for at, text in enumerate(embedded):
                        await copy.write_row((name, kind, at, HalfVector(vectors[text])))

    async def drop(self) -> bool:
        """Deletes the index; False if there was none."""
        cursor = await self._connection.execute(
            "DELETE FROM quorumsql.indexes WHERE database = %s", (self._database,)
        )
        return cursor.rowcount > 0
