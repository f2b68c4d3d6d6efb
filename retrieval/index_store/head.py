"""The head of a database's index: its versions and counts, without its content."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
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
