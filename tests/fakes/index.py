"""An embedder without a model and an index store in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nl2sql.catalog import Catalog
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.audit_store import AuditEntry
from retrieval.index_store.cards import Cards
from retrieval.index_store.indexed_database import (
    CardKind,
    IndexedDatabase,
    IndexHead,
    IndexWriter,
)
from retrieval.index_store.store import IndexStore, refuse_unindexed

AUDIT_ENTRY = AuditEntry(
    asked_at=datetime(2026, 5, 1, 12, tzinfo=UTC),
    principal="ann",
    key="key_1",
    database="shop",
    session="",
    question="How many?",
    outcome="answered",
    code="",
    sql="SELECT 1",
    predicates=("sales.orders: country = $1",),
    tables=("sales.orders",),
    executed=("SELECT 1", "SELECT 2"),
    row_count=1,
    ms=12.5,
)


class FakeEmbedder(Embedder):
    """Unit vectors by word: texts that share words are near. Loads no model.

    A vector counts, in 64 places, how often a word of that hash occurs.
    """

    def __init__(self, name: str = "fake") -> None:
        super().__init__(name)
        self.texts: list[str] = []

    def load(self) -> Any:
        """Nothing to load."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for each text."""
        self.texts += texts
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace(",", " ").replace(".", " ").split():
                vectors[row, sum(word.encode()) % 64] += 1.0
        norms = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return np.asarray(vectors / norms, dtype=np.float32)


class FakeIndexStore(IndexStore):
    """An index in memory. ``loads`` and ``replaced`` name the databases, in order."""

    def __init__(self) -> None:
        super().__init__("postgresql://nobody@nowhere/nothing")
        self.indexes: dict[str, IndexedDatabase] = {}
        self.vectors: dict[str, dict[str, NDArray[Any]]] = {}
        self.loads: list[str] = []
        self.replaced: list[str] = []
        self._locks: dict[str, asyncio.Lock] = {}

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def heads(self) -> list[IndexHead]:
        """All heads, in order of the databases' names."""
        return [self.indexes[name].head for name in sorted(self.indexes)]

    async def load(self, database: str) -> IndexedDatabase:
        """What was put there last."""
        self.loads.append(database)
        if database not in self.indexes:
            raise refuse_unindexed(database)
        return self.indexes[database]

    async def nearest(
        self,
        head: IndexHead,
        kind: CardKind,
        vector: NDArray[np.float32],
        limit: int,
        among: bytes | None = None,
    ) -> list[tuple[int, float]]:
        """By cosine similarity, nearest first."""
        index = self.indexes[head.database]
        texts = {
            "table": [card.summary for card in index.cards.tables],
            "column": [card.text for card in index.cards.columns],
        }[kind]
        bits = b"\xff" * len(texts) if among is None else among
        seen = [at for at in range(len(texts)) if bits[at // 8] >> at % 8 & 1]
        known = self.vectors[head.database]
        cosines = {at: float(known[texts[at]] @ vector) for at in seen}
        return sorted(cosines.items(), key=lambda pair: -pair[1])[:limit]

    @asynccontextmanager
    async def writer(
        self, database: str, on_wait: Callable[[], None] = lambda: None
    ) -> AsyncIterator[IndexWriter]:
        """One writer for each database at a time."""
        lock = self._locks.setdefault(database, asyncio.Lock())
        if lock.locked():
            on_wait()
        async with lock:
            yield FakeIndexWriter(self, database)

    async def close(self) -> None:
        """Nothing to close."""


class FakeIndexWriter(IndexWriter):
    """Writes into a store in memory."""

    def __init__(self, store: FakeIndexStore, database: str) -> None:
        self._store = store
        self._database = database

    async def load(self) -> IndexedDatabase | None:
        """What was put there last."""
        return self._store.indexes.get(self._database)

    async def read_vectors(self, index: IndexedDatabase) -> dict[str, NDArray[Any]]:
        """Those of the stored index."""
        return dict(self._store.vectors[self._database])

    async def replace(
        self, head: IndexHead, catalog: Catalog, cards: Cards, vectors: Mapping[str, NDArray[Any]]
    ) -> None:
        """Replaces the index."""
        rows = [vectors[card.summary] for card in cards.tables]
        self._store.replaced.append(self._database)
        self._store.vectors[self._database] = dict(vectors)
        self._store.indexes[self._database] = IndexedDatabase(
            head, catalog, cards, np.array(rows, dtype=np.float16)
        )

    async def drop(self) -> bool:
        """Deletes the index."""
        return self._store.indexes.pop(self._database, None) is not None
