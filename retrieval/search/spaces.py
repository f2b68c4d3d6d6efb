"""Caches search spaces: built at first use, valid until the index is replaced.

A set of roles has the same visible catalog object for all questions, and a space is cached for that
object. One index of each database is cached too; the spaces of all roles are built from it.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from nl2sql.catalog import Catalog
from nl2sql.errors import IndexUnavailable
from nl2sql.shared_work import SharedWork
from retrieval.embedding.embedder import Embedder
from retrieval.index_store.head import IndexedDatabase
from retrieval.index_store.store import IndexStore
from retrieval.search.space import SearchSpace, Vectors, build_space

_MOST_SPACES = 16

Patterns = Mapping[str, Sequence[str]]


@dataclass(slots=True)
class _Loaded:
    """One database's index in memory, and its spaces, the last used last."""

    index: IndexedDatabase
    vectors: Vectors
    spaces: OrderedDict[int, SearchSpace] = field(default_factory=OrderedDict)


class SearchSpaces:
    """Gives the search space of a visible catalog; for use in one event loop."""

    def __init__(
        self,
        store: IndexStore,
        embedder: Embedder,
        modules: Mapping[str, Patterns] = MappingProxyType({}),
    ) -> None:
        """``modules``: database → module → patterns of its tables."""
        self._store = store
        self._embedder = embedder
        self._modules = modules
        self._loaded: dict[str, _Loaded] = {}
        self._loading = SharedWork[_Loaded]()
        self._building = SharedWork[SearchSpace]()

    async def find(self, visible: Catalog) -> SearchSpace:
        """The space of ``visible``, which is built at the first call.

        Raises IndexUnavailable if the database has no index, or one of another embedder.
        """
        loaded = self._loaded.get(visible.database)
        if loaded is not None and (space := loaded.spaces.get(id(visible))) is not None:
            loaded.spaces.move_to_end(id(visible))
            return space
        return await self._building.run(id(visible), lambda: self._build(visible))

    def forget(self, database: str) -> None:
        """Drops the cached index and spaces of a database."""
        self._loaded.pop(database, None)

    async def _build(self, visible: Catalog) -> SearchSpace:
        name = visible.database
        loaded = self._loaded.get(name)
        if loaded is None:
            loaded = await self._loading.run(name, lambda: self._load(name))
            loaded = self._loaded.setdefault(name, loaded)
        space = loaded.spaces.get(id(visible))
        if space is None:
            patterns = self._modules.get(name, {})
            space = await asyncio.to_thread(
                build_space, visible, loaded.index, loaded.vectors, self._embedder, patterns
            )
            # The space keeps the catalog alive, so that no other object gets its id.
            loaded.spaces[id(visible)] = space
            if len(loaded.spaces) > _MOST_SPACES:
                loaded.spaces.popitem(last=False)
        return space

    async def _load(self, database: str) -> _Loaded:
        index = await self._store.load(database)
        if index is None:
            raise IndexUnavailable(
                f"The database {database!r} has not been indexed.",
                hint=f"Run `quorumsql index build {database}`.",
            )
        if index.embedder != self._embedder.name:
            raise IndexUnavailable(
                f"The index of {database!r} was made with the embedder {index.embedder!r}, "
                f"the service uses {self._embedder.name!r}.",
                hint=f"Run `quorumsql index build {database}` again.",
            )
        vectors = await self._store.table_vectors(index.head)
        return _Loaded(index, vectors.astype(np.float16))
