"""The catalog that a principal sees, and a cache of a result for each catalog object.

Each set of roles has its own visible catalog, so several catalogs of one database are in use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from cachetools import LRUCache

from nl2sql.catalog import Catalog
from nl2sql.concurrency import SingleFlight
from nl2sql.errors import Forbidden
from nl2sql.protocols import Visibility
from nl2sql.types import Principal, Violation

_T = TypeVar("_T")


class PerCatalog(Generic[_T]):
    """Caches ``compute(catalog)`` for the ``most`` catalogs used last; for use in one event loop.

    Catalogs are compared by identity, because comparing 100,000 tables would often take longer than
    the computation.
    """

    def __init__(self, compute: Callable[[Catalog], _T], *, most: int = 32) -> None:
        self._compute = compute
        # The catalog is kept beside its result, so that no other object gets its id.
        self._kept: LRUCache[int, tuple[Catalog, _T]] = LRUCache(most)
        self._running = SingleFlight[_T]()

    def __contains__(self, catalog: Catalog) -> bool:
        return id(catalog) in self._kept

    def of(self, catalog: Catalog) -> _T:
        """The result for this catalog."""
        known = self._kept.get(id(catalog))
        if known is None:
            known = self._kept[id(catalog)] = (catalog, self._compute(catalog))
        return known[1]

    async def load(self, catalog: Catalog) -> _T:
        """The same, computed in a thread: for what takes seconds for a large catalog."""
        known = self._kept.get(id(catalog))
        if known is not None:
            return known[1]
        return await self._running.run(id(catalog), lambda: self._work(catalog))

    async def _work(self, catalog: Catalog) -> _T:
        result = await asyncio.to_thread(self._compute, catalog)
        self._kept[id(catalog)] = (catalog, result)
        return result


async def read_visible(visibility: Visibility, database: str, principal: Principal) -> Catalog:
    """The catalog as the principal sees it. Raises Forbidden if that is nothing."""
    visible = await visibility.visible_catalog(database, principal)
    if isinstance(visible, Violation):
        raise Forbidden(visible.message)
    return visible
