"""The generations of an index: their heads, and the tables whose names end in their numbers.

The tables are filled while the previous generation is live, have an HNSW index for this database's
vectors only, and are dropped together. A change of their columns needs a migration that takes the
existing generations out of service; the next build creates them again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection, errors, sql
from psycopg.rows import dict_row

from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from nl2sql.errors import IndexReplaced
from retrieval.index_store.cards import Card, Cards, ColumnCard


@dataclass(frozen=True, slots=True)
class IndexHead:
    """One generation of one database's index.

    ``version`` changes with everything that search reads, ``fingerprint`` only with the schema.
    """

    database: str
    generation: int
    version: str
    fingerprint: str
    embedder: str
    dimensions: int
    dialect: str
    search_path: tuple[str, ...]
    tables: int
    columns: int
    column_cards: int
    foreign_keys: int
    inferred_keys: int
    indexed_at: datetime


@dataclass(frozen=True, slots=True)
class IndexedDatabase:
    """One generation in memory, without its vectors."""

    head: IndexHead
    catalog: Catalog
    cards: Cards

    @property
    def version(self) -> str:
        """The version of the index."""
        return self.head.version

    @property
    def embedder(self) -> str:
        """The name of the embedder that made its vectors."""
        return self.head.embedder


async def read_heads(connection: AsyncConnection[Any], database: str | None) -> list[IndexHead]:
    """The live generation of one database, or those of all databases sorted by name."""
    async with connection.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            "SELECT * FROM quorumsql.generations"
            " WHERE live AND (%(database)s::text IS NULL OR database = %(database)s)"
            " ORDER BY database",
            {"database": database},
        )
        rows = await cursor.fetchall()
    return [
        IndexHead(
            **{field.name: row[field.name] for field in fields(IndexHead)}
            | {"search_path": tuple(row["search_path"])}
        )
        for row in rows
    ]


def build_replaced(head: IndexHead) -> IndexReplaced:
    """The error for a reader of ``head`` after another generation became live."""
    return IndexReplaced(
        f"The index of {head.database!r} was replaced while it was read.", hint="Try again."
    )


# Positions count from 0. A table refers to its columns and their cards by position, so that what a
# thousand tables share is stored and read once.
_GENERATION = """
CREATE TABLE {column_defs} (
    position int NOT NULL, name text NOT NULL, type text NOT NULL,
    nullable boolean NOT NULL, comment text NOT NULL
);
CREATE TABLE {table_defs} (
    position int NOT NULL, schema text NOT NULL, name text NOT NULL, kind text NOT NULL,
    comment text NOT NULL, definition text NOT NULL, primary_key text[] NOT NULL,
    columns int[] NOT NULL, column_cards int[] NOT NULL,
    summary text NOT NULL, card text NOT NULL, sha256 bytea NOT NULL
);
CREATE TABLE {column_cards} (position int NOT NULL, card text NOT NULL, sha256 bytea NOT NULL);
CREATE TABLE {foreign_keys} (
    position int NOT NULL, name text NOT NULL, table_name text NOT NULL, columns text[] NOT NULL,
    target text NOT NULL, target_columns text[] NOT NULL, inferred boolean NOT NULL
);
CREATE TABLE {table_vectors} (
    position int PRIMARY KEY, sha256 bytea NOT NULL, embedding {halfvec} NOT NULL
);
CREATE TABLE {column_vectors} (
    position int PRIMARY KEY, sha256 bytea NOT NULL, embedding {halfvec} NOT NULL
);
"""

_PARTS = (
    "column_defs",
    "table_defs",
    "column_cards",
    "foreign_keys",
    "table_vectors",
    "column_vectors",
)


def name_part(part: str, generation: int) -> sql.Identifier:
    """The quoted name of one table of a generation."""
    return sql.Identifier("quorumsql", f"{part}_{generation}")


def create_generation(generation: int, dimensions: int) -> sql.Composed:
    """The statements that create the tables of a generation."""
    halfvec = sql.SQL("halfvec({})").format(dimensions) if dimensions else sql.SQL("halfvec")
    names = {part: name_part(part, generation) for part in _PARTS}
    return sql.SQL(_GENERATION).format(**names, halfvec=halfvec)


def drop_generation(generation: int) -> sql.Composed:
    """The statement that drops the tables of a generation."""
    names = sql.SQL(", ").join(name_part(part, generation) for part in _PARTS)
    return sql.SQL("DROP TABLE IF EXISTS {}").format(names)


def measure_generation(generation: int) -> sql.Composed:
    """The query for a generation's size on disk in bytes, search indexes included."""
    sizes = sql.SQL(" + ").join(
        sql.SQL("pg_total_relation_size({}::regclass)").format(
            sql.Literal(f"quorumsql.{part}_{generation}")
        )
        for part in _PARTS
    )
    return sql.SQL("SELECT ({})::bigint").format(sizes)


# Rows of a message; between two messages the event loop runs other tasks.
_CHUNK = 1000


class _SharedTexts:
    """Returns the same object for equal texts."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        return self._known.setdefault(text, text)


async def read_catalog(connection: AsyncConnection[Any], head: IndexHead) -> Catalog:
    """The catalog of that generation. Raises IndexReplaced if it was dropped."""
    same = _SharedTexts()
    columns = [
        Column(same(name), same(kind), nullable, comment)
        async for name, kind, nullable, comment in _stream(
            connection, head, "column_defs", "name, type, nullable, comment"
        )
    ]
    tables = [
        Table(
            schema=same(schema),
            name=same(name),
            columns=tuple([columns[at] for at in positions]),
            primary_key=tuple(map(same, key)),
            comment=comment,
            kind=same(kind),
            definition=definition,
        )
        async for schema, name, positions, key, comment, kind, definition in _stream(
            connection,
            head,
            "table_defs",
            "schema, name, columns, primary_key, comment, kind, definition",
        )
    ]
    keys = [
        ForeignKey(
            name, same(table), tuple(map(same, columns)), same(target), tuple(map(same, targets)),
            inferred,
        )
        async for name, table, columns, target, targets, inferred in _stream(
            connection,
            head,
            "foreign_keys",
            "name, table_name, columns, target, target_columns, inferred",
        )
    ]  # fmt: skip
    return Catalog(
        head.database,
        tuple(tables),
        foreign_keys=tuple(key for key in keys if not key.inferred),
        search_path=head.search_path,
        dialect=head.dialect,
        inferred_keys=tuple(key for key in keys if key.inferred),
    )


async def read_cards(connection: AsyncConnection[Any], head: IndexHead, catalog: Catalog) -> Cards:
    """The cards of that generation and its catalog. Raises IndexReplaced if it was dropped."""
    texts = [text async for (text,) in _stream(connection, head, "column_cards", "card")]
    names: list[list[str]] = [[] for _ in texts]
    cards: list[Card] = []
    async for summary, card, positions in _stream(
        connection, head, "table_defs", "summary, card, column_cards"
    ):
        table = catalog.tables[len(cards)]
        qualified = table.qualified
        cards.append(Card(qualified, summary, card))
        for column, at in zip(table.columns, positions, strict=True):
            names[at].append(f"{qualified}.{column.name}")
    return Cards(
        tables=tuple(cards),
        columns=tuple(
            ColumnCard(text, tuple(columns)) for text, columns in zip(texts, names, strict=True)
        ),
    )


async def read_table_vectors(
    connection: AsyncConnection[Any], head: IndexHead
) -> NDArray[np.float32]:
    """The vectors of the tables' cards, shape ``(tables, dimensions)``. Raises IndexReplaced."""
    vectors = np.zeros((head.tables, head.dimensions), dtype=np.float32)
    at = 0
    async for (vector,) in _stream(connection, head, "table_vectors", "embedding", binary=True):
        vectors[at] = vector.to_numpy()
        at += 1
    return vectors


async def _stream(
    connection: AsyncConnection[Any],
    head: IndexHead,
    part: str,
    columns: LiteralString,
    *,
    binary: bool = False,
) -> AsyncIterator[tuple[Any, ...]]:
    query = sql.SQL("SELECT {} FROM {} ORDER BY position").format(
        sql.SQL(columns),
        name_part(part, head.generation),
    )
    try:
        async with connection.cursor(binary=binary) as cursor:
            async for row in cursor.stream(query, size=_CHUNK):
                yield row
    except errors.UndefinedTable as error:
        raise build_replaced(head) from error
