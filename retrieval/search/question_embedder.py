"""Embeds concurrent questions in batches, and caches the vectors.

One text takes the embedder nearly as long as eight, and concurrent calls compete for the cores. So
one call runs at a time, with all questions that arrived during the previous call; a single question
does not wait. The last vectors are cached, because sessions, retries and searches with a draft
query embed the same text again.
"""

from __future__ import annotations

import asyncio

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from retrieval.embedding.embedder import Embedder

_MOST_TOGETHER = 32
# Each vector takes 1.5 kB, and its text.
_MOST_KEPT = 500

Vector = NDArray[np.float32]


class QuestionEmbedder:
    """Embeds single questions; for use in one event loop."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._waiting: list[tuple[str, asyncio.Future[Vector]]] = []
        self._worker: asyncio.Task[None] | None = None
        self._kept: LRUCache[str, Vector] = LRUCache(_MOST_KEPT)

    async def embed(self, text: str) -> Vector:
        """The unit vector of ``text``. Raises SettingsError if the model cannot be loaded."""
        if (known := self._kept.get(text)) is not None:
            return known
        future: asyncio.Future[Vector] = asyncio.get_running_loop().create_future()
        self._waiting.append((text, future))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work())
        return await future

    async def _work(self) -> None:
        while self._waiting:
            batch = self._waiting[:_MOST_TOGETHER]
            del self._waiting[:_MOST_TOGETHER]
            try:
                texts = [text for text, _ in batch]
                vectors = await asyncio.to_thread(self._embedder.embed, texts)
            except Exception as error:  # any error must reach all waiting callers
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (text, future), vector in zip(batch, vectors, strict=True):
                self._keep(text, vector)
                if not future.done():  # it may have been cancelled
                    future.set_result(vector)
        self._worker = None

    def _keep(self, text: str, vector: Vector) -> None:
        # A copy, because a view would keep the whole batch in memory.
        self._kept[text] = kept = vector.copy()
        kept.flags.writeable = False
