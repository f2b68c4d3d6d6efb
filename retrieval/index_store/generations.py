"""The generations of an index: their heads, and the tables whose names end in their numbers.

The tables are filled while the previous generation is live, have an HNSW index for this database's
vectors only, and are dropped together. A change of their columns needs a migration that takes the
existing generations out of service; the next build creates them again.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection, sql
from psycopg.rows import dict_row

from nl2sql.catalog import Catalog
from nl2sql.errors import IndexReplaced
from retrieval.index_store.cards import Cards


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
