"""Token counts by the model's own tokenizer, cached.

The same pieces of a schema are counted for every question, and the tokenizer may run in another
process. The cache drops the least recently used texts.
"""

from __future__ import annotations

from collections.abc import Iterable

from cachetools import LRUCache

from nl2sql.cache_counts import count_lookups
from nl2sql.protocols import Engine

# About 100 bytes each with their count.
_MOST_REMEMBERED = 50_000


class TokenCounts:
    """Counts the tokens of texts, with one call to the engine for all that are not cached."""

    def __init__(self, engine: Engine, *, most_remembered: int = _MOST_REMEMBERED) -> None:
        self._engine = engine
        self._known: LRUCache[str, int] = LRUCache(most_remembered)

    async def count(self, texts: Iterable[str]) -> dict[str, int]:
        """Text → tokens. Raises EngineUnavailable."""
        wanted = dict.fromkeys(texts)
        counts = {text: self._known[text] for text in wanted if text in self._known}
        count_lookups("token_counts", hits=len(counts), misses=len(wanted) - len(counts))
        if unknown := tuple(text for text in wanted if text not in counts):
            found = await self._engine.count_tokens(unknown)
            counts.update(zip(unknown, found, strict=True))
            self._known.update({text: counts[text] for text in unknown})
        return counts
