"""Counts the lookups in this process's caches, for metrics."""

from __future__ import annotations

import threading
from collections import Counter

_LOCK = threading.Lock()
_COUNTS: Counter[tuple[str, str]] = Counter()


def count_lookups(cache: str, *, hits: int = 0, misses: int = 0) -> None:
    """Adds lookups in the cache of that name."""
    with _LOCK:
        _COUNTS[cache, "hit"] += hits
        _COUNTS[cache, "miss"] += misses


def read_lookups() -> dict[tuple[str, str], int]:
    """(cache, ``hit`` or ``miss``) → lookups since the process started."""
    with _LOCK:
        return dict(_COUNTS)
