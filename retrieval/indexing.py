"""Brings the index of a database up to date with its schema: cards, their vectors, the swap.

If a run is interrupted, the old index stays in service. If the index is current, nothing is
embedded or written. Texts that the old index has a vector for are not embedded again.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from numpy.typing import NDArray

from nl2sql.catalog import Catalog, Table
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.cards import Cards, build_cards
from retrieval.index_store.indexed_database import IndexedDatabase, IndexHead, IndexWriter

Progress = Callable[[int, int], None]
"""Called with what is done and the total; the total is 0 if it is unknown."""

# Texts between two reports of progress. The embedder sorts them by length.
_BATCH = 128


async def update_index(
    writer: IndexWriter,
    embedder: Embedder,
    catalog: Catalog,
    glosses: Mapping[str, str],
    *,
    present: IndexedDatabase | None,
    fingerprint: str,
    progress: Progress = lambda done, total: None,
) -> int | None:
    """Replaces the ``present`` index of ``writer`` unless it is current; ``progress`` counts texts.

    Returns the number of newly embedded texts; None if nothing was written.
    Raises IndexUnavailable, and SettingsError if the embedder's model cannot be loaded.
    """
    cards = await asyncio.to_thread(build_cards, catalog, glosses)
    version = index_version(catalog, cards, embedder.name)
    if present is not None and present.head.version == version:
        return None
    vectors: dict[str, NDArray[Any]] = {}
    if present is not None and present.head.embedder == embedder.name:
        vectors = await writer.read_vectors(present)
    wanted = dict.fromkeys(card.summary for card in cards.tables)
    wanted |= dict.fromkeys(card.text for card in cards.columns)
    missing = [text for text in wanted if text not in vectors]
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        vectors.update(zip(batch, await asyncio.to_thread(embedder.embed, batch), strict=True))
        progress(start + len(batch), len(missing))
    head = IndexHead(
        database=catalog.database,
        version=version,
        fingerprint=fingerprint,
        embedder=embedder.name,
        dialect=catalog.dialect,
        search_path=catalog.search_path,
        tables=len(catalog.tables),
        columns=sum(len(table.columns) for table in catalog.tables),
        indexed_at=datetime.now(UTC),
    )
    await writer.replace(head, catalog, cards, vectors)
    return len(missing)


def index_version(catalog: Catalog, cards: Cards, embedder: str) -> str:
    """A hash of the schema, the keys, the cards' texts and glosses, and the embedder's name."""
    digest = hashlib.sha256(f"{catalog.fingerprint}\0{embedder}".encode())
    tables = (text for card in cards.tables for text in (card.text, card.gloss))
    for text in (*tables, *(card.text for card in cards.columns)):
        digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:16]


def describe_catalog(catalog: Catalog, descriptions: Mapping[str, str]) -> Catalog:
    """The catalog with ``descriptions`` in place of missing comments.

    Keys are ``table`` or ``table.column`` in any case, the schema before it where SQL needs it or
    not; unknown keys are ignored.

    >>> from nl2sql.catalog import Column
    >>> orders = Table("main", "Orders", (Column("Amt", "REAL"),))
    >>> shop = Catalog("shop", (orders,), search_path=("main",))
    >>> describe_catalog(shop, {"orders.amt": "in euros"}).tables[0].columns[0].comment
    'in euros'
    """
    if not descriptions:
        return catalog
    known = {key.lower(): " ".join(text.split()) for key, text in descriptions.items()}
    tables = (_describe(table, _list_names(catalog, table), known) for table in catalog.tables)
    return replace(catalog, tables=tuple(tables))


def list_describable(catalog: Catalog) -> set[str]:
    """The keys in lower case that ``describe_catalog`` knows."""
    tables = [(name, table) for table in catalog.tables for name in _list_names(catalog, table)]
    columns = (f"{name}.{each.name.lower()}" for name, table in tables for each in table.columns)
    return {*(name for name, _ in tables), *columns}


def _list_names(catalog: Catalog, table: Table) -> tuple[str, ...]:
    """Without the schema only where that is one table."""
    short = catalog.short_names[table.qualified].replace('"', "")
    return table.qualified.lower(), short.lower()


def _describe(table: Table, names: Sequence[str], known: Mapping[str, str]) -> Table:
    def find(column: str = "") -> str:
        keys = (f"{name}{column}".lower() for name in names)
        return next((known[key] for key in keys if key in known), "")

    columns = (
        replace(column, comment=column.comment or find(f".{column.name}"))
        for column in table.columns
    )
    return replace(table, comment=table.comment or find(), columns=tuple(columns))
