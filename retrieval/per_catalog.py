"""Caches a result for each catalog object.

Each set of roles has its own visible catalog, so several catalogs of one database are in use.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from nl2sql.catalog import Catalog

_T = TypeVar("_T")


class PerCatalog(Generic[_T]):
    """Caches ``compute(catalog)`` for the ``most`` catalogs used last.

    Catalogs are compared by identity, because comparing 100,000 tables would often take longer than
    the computation.
    """

    def __init__(self, compute: Callable[[Catalog], _T], *, most: int = 32) -> None:
        self._compute = compute
        self._most = most
        # The catalog is kept beside its result, so that no other object gets its id.
        self._kept: OrderedDict[int, tuple[Catalog, _T]] = OrderedDict()

    def of(self, catalog: Catalog) -> _T:
        """The result for this catalog."""
        known = self._kept.get(id(catalog))
        if known is None:
            known = self._kept[id(catalog)] = (catalog, self._compute(catalog))
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(id(catalog))
        return known[1]
