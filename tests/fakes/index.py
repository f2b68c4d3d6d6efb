"""An embedder without a model and an index store in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nl2sql.catalog import Catalog
from nl2sql.errors import IndexReplaced
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.cards import Card, ColumnCard
from retrieval.index_store.generations import IndexedDatabase, IndexHead
from retrieval.index_store.index_writer import IndexWriter, NewGeneration
from retrieval.index_store.nearest import Mask
from retrieval.index_store.store import IndexStore


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
        self.vectors: dict[tuple[str, str, bytes], NDArray[np.float32]] = {}
        self.loads: list[str] = []
        self.replaced: list[str] = []
        self._locks: dict[str, asyncio.Lock] = {}

    async def prepare(self) -> None:
        """Nothing to prepare."""

    async def head(self, database: str) -> IndexHead | None:
        """The head of the stored index."""
        return index.head if (index := self.indexes.get(database)) else None

    async def heads(self) -> list[IndexHead]:
        """All heads, in order of the databases' names."""
        return [self.indexes[name].head for name in sorted(self.indexes)]

    async def load(self, database: str) -> IndexedDatabase | None:
        """What was put there last."""
        self.loads.append(database)
        return self.indexes.get(database)

    async def load_catalog(self, head: IndexHead) -> Catalog:
        """The catalog of the stored index."""
        return self._live(head).catalog

    async def table_vectors(self, head: IndexHead) -> NDArray[np.float32]:
        """One row for each table."""
        return self._stack(head, self._live(head).cards.tables)

    async def nearest_tables(
        self, head: IndexHead, vector: NDArray[np.float32], limit: int, among: Mask | None = None
    ) -> list[tuple[int, float]]:
        """By cosine similarity, nearest first."""
        return _sort_nearest(await self.table_vectors(head), vector, limit, among)

    async def nearest_columns(
        self, head: IndexHead, vector: NDArray[np.float32], limit: int, among: Mask | None = None
    ) -> list[tuple[int, float]]:
        """By cosine similarity, nearest first."""
        vectors = self._stack(head, self._live(head).cards.columns)
        return _sort_nearest(vectors, vector, limit, among)

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

    def _live(self, head: IndexHead) -> IndexedDatabase:
        index = self.indexes.get(head.database)
        if index is None or index.head.generation != head.generation:
            raise IndexReplaced(f"The index of {head.database!r} was replaced.")
        return index

    def _stack(
        self, head: IndexHead, cards: Sequence[Card] | Sequence[ColumnCard]
    ) -> NDArray[np.float32]:
        rows = [
            self.vectors[head.database, head.embedder, bytes.fromhex(card.sha256)] for card in cards
        ]
        return np.array(rows, dtype=np.float32).reshape(len(rows), head.dimensions)


class FakeIndexWriter(IndexWriter):
    """Writes into a store in memory."""

    def __init__(self, store: FakeIndexStore, database: str) -> None:
        self._store = store
        self._database = database

    async def head(self) -> IndexHead | None:
        """What was put there last."""
        return await self._store.head(self._database)

    async def known_hashes(self, embedder: str) -> set[bytes]:
        """The hashes of the stored vectors of this database."""
        return {
            sha256
            for database, name, sha256 in self._store.vectors
            if (database, name) == (self._database, embedder)
        }

    async def add_vectors(
        self, embedder: str, hashes: Sequence[bytes], vectors: NDArray[np.float32]
    ) -> None:
        """Stores the vectors."""
        for sha256, vector in zip(hashes, vectors, strict=True):
            self._store.vectors[self._database, embedder, sha256] = vector

    async def replace(
        self, new: NewGeneration, progress: Callable[[int, int], None] = lambda done, total: None
    ) -> IndexHead:
        """Replaces the index by one of the next generation."""
        old = self._store.indexes.get(self._database)
        widths = [
            len(vector)
            for (database, name, _), vector in self._store.vectors.items()
            if (database, name) == (self._database, new.embedder)
        ]
        head = IndexHead(
            database=self._database,
            generation=old.head.generation + 1 if old else 1,
            version=new.version,
            fingerprint=new.fingerprint,
            embedder=new.embedder,
            dimensions=widths[0] if widths else 0,
            dialect=new.catalog.dialect,
            search_path=new.catalog.search_path,
            tables=len(new.catalog.tables),
            columns=sum(len(table.columns) for table in new.catalog.tables),
            column_cards=len(new.cards.columns),
            foreign_keys=len(new.catalog.foreign_keys),
            inferred_keys=len(new.catalog.inferred_keys),
            indexed_at=datetime(2025, 1, 1, tzinfo=UTC),
        )
        self._store.replaced.append(self._database)
        self._store.indexes[self._database] = IndexedDatabase(head, new.catalog, new.cards)
        await self.clean_up()
        return head

    async def drop(self) -> bool:
        """Deletes the index."""
        found = self._store.indexes.pop(self._database, None) is not None
        await self.clean_up()
        return found

    async def clean_up(self) -> None:
        """Deletes the vectors that no index uses."""
        index = self._store.indexes.get(self._database)
        used: set[bytes] = set()
        if index is not None:
            used |= {bytes.fromhex(card.sha256) for card in index.cards.tables}
            used |= {bytes.fromhex(card.sha256) for card in index.cards.columns}
        for key in list(self._store.vectors):
            if key[0] == self._database and (
                index is None or key[1] != index.embedder or key[2] not in used
            ):
                del self._store.vectors[key]


def _sort_nearest(
    vectors: NDArray[np.float32], vector: NDArray[np.float32], limit: int, among: Mask | None
) -> list[tuple[int, float]]:
    if not len(vectors):
        return []
    cosines = vectors @ vector
    bits = b"\xff" * len(vectors) if among is None else among.bits
    order = [
        int(at) for at in np.argsort(-cosines, kind="stable") if bits[at // 8] >> int(at % 8) & 1
    ]
    return [(at, float(cosines[at])) for at in order[:limit]]
