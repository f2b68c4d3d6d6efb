"""Embeds the questions that are asked at the same time together.

A call of the embedder costs nearly as much for one text as for eight, and calls side by side only
take the cores from one another. So one call runs at a time, with all that came while the last one
ran; a question that comes alone waits for nothing. The last questions' vectors are kept: a session,
a client that tries again and a search with a first draft's names ask for the same text.
"""

from __future__ import annotations

import asyncio

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from retrieval.embedding.embedder import Embedder

_MOST_TOGETHER = 32
# 1.5 kB each, and the text.
_MOST_KEPT = 500

Vector = NDArray[np.float32]


class QuestionEmbedder:
    """One question in, its vector out; for one event loop."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._waiting: list[tuple[str, asyncio.Future[Vector]]] = []
        self._worker: asyncio.Task[None] | None = None
        self._kept: LRUCache[str, Vector] = LRUCache(_MOST_KEPT)

    async def embed(self, text: str) -> Vector:
        """The unit vector of ``text``. Raises SettingsError when the model cannot be loaded."""
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
            except Exception as error:  # whatever it is, everybody who waits must hear of it
                for _, future in batch:
                    if not future.done():
                        future.set_exception(error)
                continue
            for (text, future), vector in zip(batch, vectors, strict=True):
                self._keep(text, vector)
                if not future.done():  # who asked may have left
                    future.set_result(vector)
        self._worker = None

    def _keep(self, text: str, vector: Vector) -> None:
        # A copy: the row would keep its whole batch in memory.
        self._kept[text] = kept = vector.copy()
        kept.flags.writeable = False
