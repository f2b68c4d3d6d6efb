"""Catalogs from the index for the parts that need the whole schema, such as the guard.

Asks the index for its live generation at most once a second and reads the catalog again when that
changed, so that a table dropped from the index is refused within a second.
"""

from __future__ import annotations

import time

from nl2sql.catalog import Catalog
from nl2sql.concurrency import SingleFlight
from nl2sql.errors import IndexReplaced, IndexUnavailable
from retrieval.index_store.store import IndexStore

_FRESH_S = 1.0


class IndexedCatalogs:
    """Gives the catalogs of the index store."""

    def __init__(self, store: IndexStore) -> None:
        self._store = store
        self._reading = SingleFlight[Catalog]()
        self._read: dict[str, tuple[float, int, Catalog]] = {}

    async def catalog(self, database: str) -> Catalog:
        """The indexed catalog; the same object while it is unchanged. Raises IndexUnavailable."""
        read = self._read.get(database)
        if read is not None and time.monotonic() - read[0] < _FRESH_S:
            return read[2]
        return await self._reading.run(database, lambda: self._refresh(database))

    async def _refresh(self, database: str) -> Catalog:
        try:
            return await self._read_catalog(database)
        except IndexReplaced:
            return await self._read_catalog(database)

    async def _read_catalog(self, database: str) -> Catalog:
        read = self._read.get(database)
        head = await self._store.head(database)
        if head is None:
            self._read.pop(database, None)
            raise IndexUnavailable(
                f"The database {database!r} has not been indexed.",
                hint=f"Run `quorumsql index build {database}`.",
            )
        if read is None or read[1] != head.generation:
            read = (0.0, head.generation, await self._store.load_catalog(head))
        self._read[database] = (time.monotonic(), read[1], read[2])
        return read[2]
