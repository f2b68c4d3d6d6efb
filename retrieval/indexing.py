"""Builds or refreshes the index of one database.

Reads the catalog, makes a card a table, embeds only the cards whose text is new, and replaces the
index in one transaction. An unchanged database embeds nothing and writes nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nl2sql.catalog import Catalog
from retrieval.cards import Card, build_cards
from retrieval.embedder import Embedder
from retrieval.index_store.store import IndexedDatabase, IndexStore

_BATCH = 32

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What one run did: how many tables there are, and how many cards were embedded anew."""

    database: str
    tables: int
    columns: int
    foreign_keys: int
    embedded: int
    changed: bool


async def index_database(
    catalog: Catalog,
    store: IndexStore,
    embedder: Embedder,
    *,
    progress: Progress = lambda done, total: None,
) -> IndexReport:
    """Brings the index of ``catalog.database`` up to date; ``progress(done, total)`` counts cards.

    Raises IndexUnavailable when the store does not answer.
    """
    await store.prepare()
    old = await store.load(catalog.database)
    cards = build_cards(catalog)
    version = index_version(catalog, cards, embedder.name)
    fresh = 0
    if old is None or old.version != version:
        known = _known_vectors(old, embedder.name)
        missing = [card for card in cards if card.sha256 not in known]
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            vectors = await asyncio.to_thread(embedder.embed, [card.summary for card in batch])
            known.update({card.sha256: vector for card, vector in zip(batch, vectors, strict=True)})
            fresh += len(batch)
            progress(fresh, len(missing))
        matrix = np.array([known[card.sha256] for card in cards], dtype=np.float32)
        await store.replace(catalog, cards, matrix, version=version, embedder=embedder.name)
    return IndexReport(
        database=catalog.database,
        tables=len(catalog.tables),
        columns=sum(len(table.columns) for table in catalog.tables),
        foreign_keys=len(catalog.foreign_keys),
        embedded=fresh,
        changed=old is None or old.version != version,
    )


def index_version(catalog: Catalog, cards: tuple[Card, ...], embedder: str) -> str:
    """A hash that changes when the schema, the cards' wording or the embedder does."""
    parts = [catalog.fingerprint, embedder, *(card.text for card in cards)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _known_vectors(
    old: IndexedDatabase | None, embedder: str
) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]]:
    if old is None or old.embedder != embedder:
        return {}
    return {card.sha256: old.vectors[at] for at, card in enumerate(old.cards)}
