"""What is known of a database's live index before anything of it is read."""

from __future__ import annotations

from dataclasses import dataclass
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

    ``version`` changes with anything that search reads, ``fingerprint`` with the schema alone.
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
    """One generation as it was read; its vectors stay in the database."""

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
    """The live generation of one database, or of all of them in order of their names."""
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
            **{
                **{name: value for name, value in row.items() if name != "live"},
                "search_path": tuple(row["search_path"]),
            }
        )
        for row in rows
    ]


def build_replaced(head: IndexHead) -> IndexReplaced:
    """The error for whoever still reads ``head`` when another generation is live."""
    return IndexReplaced(
        f"The index of {head.database!r} was replaced while it was read.", hint="Try again."
    )
