"""Keeps the values of all databases in memory and reloads them after a refresh.

Checks the version at most once a second. A new version is loaded in the background while questions
use the old one.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from dataclasses import dataclass

from nl2sql.errors import IndexUnavailable
from retrieval.index_store.value_store import ValueStore
from retrieval.values.dictionary import ValueDictionary

_FRESH_S = 1.0
# Of a database; the smallest columns come first.
_MOST_VALUES = 1_000_000


@dataclass(frozen=True, slots=True)
class _Loaded:
    version: str
    dictionary: ValueDictionary


class ValueMemory:
    """Dictionaries of the values of ``databases``, of the smallest columns if there are too many.

    The version is checked again after ``fresh_s`` seconds.
    """

    def __init__(
        self, store: ValueStore, databases: Collection[str], *, fresh_s: float = _FRESH_S
    ) -> None:
        self._store = store
        self._fresh_s = fresh_s
        self._databases = frozenset(databases)
        self._checked: dict[str, float] = {}
        self._loaded: dict[str, _Loaded] = {}
        # At most one running load for each database.
        self._loading: dict[str, asyncio.Task[_Loaded]] = {}

    async def dictionary(self, database: str) -> ValueDictionary | None:
        """The values of the last or the previous refresh; None for an unknown database.

        Raises IndexUnavailable if nothing is loaded and the index does not answer.
        """
        if database not in self._databases:
            return None
        known = self._loaded.get(database)
        if known is None:
            return (await self._load(database)).dictionary
        if time.monotonic() - self._checked.get(database, 0.0) >= self._fresh_s:
            self._checked[database] = time.monotonic()
            await self._renew(database, known)
        return self._loaded[database].dictionary

    async def version(self, database: str) -> str:
        """The version of the values that ``dictionary`` gives now; empty for an unknown database.

        Raises as ``dictionary`` does.
        """
        await self.dictionary(database)
        known = self._loaded.get(database)
        return known.version if known else ""

    async def _renew(self, database: str, known: _Loaded) -> None:
        try:
            version = await self._store.version(database)
        except IndexUnavailable:
            return  # the values in memory stay in use
        if version != known.version and database not in self._loading:
            self._begin(database)

    async def _load(self, database: str) -> _Loaded:
        task = self._loading.get(database) or self._begin(database)
        # Shielded, because other questions wait for the load even if this one is cancelled.
        return await asyncio.shield(task)

    def _begin(self, database: str) -> asyncio.Task[_Loaded]:
        task = asyncio.create_task(self._read(database))
        self._loading[database] = task

        def finish(done: asyncio.Task[_Loaded]) -> None:
            self._loading.pop(database, None)
            if not done.cancelled() and done.exception() is None:
                self._loaded[database] = done.result()
                self._checked[database] = time.monotonic()

        task.add_done_callback(finish)
        return task

    async def _read(self, database: str) -> _Loaded:
        version = await self._store.version(database)
        columns = await self._store.load(database, _MOST_VALUES)
        return _Loaded(version, await asyncio.to_thread(ValueDictionary, columns))
