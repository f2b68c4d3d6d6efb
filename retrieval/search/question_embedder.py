"""Embeds questions, and caches the vectors.

One call runs at a time, because concurrent ones compete for the cores. Sessions, retries and
searches with a draft query embed the same text again.
"""

from __future__ import annotations

import asyncio

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from retrieval.embedding.embedder import Embedder

# Each vector takes 1.5 kB, and its text.
_MOST_KEPT = 500

Vector = NDArray[np.float32]


class QuestionEmbedder:
    """Embeds single questions; for use in one event loop."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._turn = asyncio.Lock()
        self._kept: LRUCache[str, Vector] = LRUCache(_MOST_KEPT)

    async def embed(self, text: str) -> Vector:
        """The unit vector of ``text``. Raises SettingsError if the model cannot be loaded."""
        if (known := self._kept.get(text)) is not None:
            return known
        async with self._turn:
            if text not in self._kept:
                (vector,) = await asyncio.to_thread(self._embedder.embed, [text])
                vector.flags.writeable = False
                self._kept[text] = vector
            return self._kept[text]
