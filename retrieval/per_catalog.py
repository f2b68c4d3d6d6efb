"""What is computed once of a catalog and kept as long as that same object is asked about.

Each set of roles sees a catalog of its own, so several of one database are in use at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from cachetools import LRUCache

from nl2sql.catalog import Catalog

_T = TypeVar("_T")


class PerCatalog(Generic[_T]):
    """``compute`` of a catalog, for the ``most`` catalogs asked about last.

    By identity: to compare two catalogs of 100,000 tables would cost more than most of what is
    computed of them.
    """

    def __init__(self, compute: Callable[[Catalog], _T], *, most: int = 32) -> None:
        self._compute = compute
        # The catalog is kept beside its result, so that no other object gets its id.
        self._kept: LRUCache[int, tuple[Catalog, _T]] = LRUCache(most)

    def of(self, catalog: Catalog) -> _T:
        """The result for this catalog."""
        known = self._kept.get(id(catalog))
        if known is None:
            known = self._kept[id(catalog)] = (catalog, self._compute(catalog))
        return known[1]
