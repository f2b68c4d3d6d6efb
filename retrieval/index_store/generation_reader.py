"""Reads a whole generation: the catalog, and the cards of its tables and columns.

Rows are streamed, and equal columns, names and types are one object in memory, so that 100,000
tables of 15 columns take seconds and a few hundred megabytes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncConnection, errors, sql

from nl2sql.catalog import Catalog, Column, ForeignKey, Table
from retrieval.index_store.cards import Card, Cards, ColumnCard
from retrieval.index_store.generations import IndexHead, build_replaced, name_part

# Rows of a message; between two messages the event loop runs other tasks.
_CHUNK = 1000


class _Names:
    """Returns the same object for equal texts."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        return self._known.setdefault(text, text)


async def read_catalog(connection: AsyncConnection[Any], head: IndexHead) -> Catalog:
    """The catalog of that generation. Raises IndexReplaced if it was dropped."""
    same = _Names()
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
