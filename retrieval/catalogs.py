"""Catalogs from the index for the parts that need the whole schema, such as the guard.

Asks the store for the present index at most once a second, so that a table dropped from the index
is refused within a second.
"""

from __future__ import annotations

import time

from nl2sql.catalog import Catalog
from nl2sql.concurrency import SingleFlight
from retrieval.index_store.indexed_database import IndexedDatabase
from retrieval.index_store.store import IndexStore

_FRESH_S = 1.0


class IndexedCatalogs:
    """Gives the catalogs of the index store."""

    def __init__(self, store: IndexStore) -> None:
        self._store = store
        self._reading = SingleFlight[Catalog]()
        self._read: dict[str, tuple[float, IndexedDatabase]] = {}

    async def catalog(self, database: str) -> Catalog:
        """The indexed catalog; the same object while it is unchanged. Raises IndexUnavailable."""
        read = self._read.get(database)
        if read is not None and time.monotonic() - read[0] < _FRESH_S:
            return read[1].catalog
        return await self._reading.run(database, lambda: self._refresh(database))

    async def _refresh(self, database: str) -> Catalog:
        index = await self._store.load(database)
        self._read[database] = (time.monotonic(), index)
        return index.catalog
