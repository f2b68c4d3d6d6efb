"""An embedder with a cache, so that retrieval is timed without the question's embedding."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retrieval.embedding.embedder import Embedder, SentenceModel


class RememberedEmbedder(Embedder):
    """Caches all vectors of another embedder, so that each text is embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder.name)
        self._embedder = embedder
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the other embedder, which embeds only new texts."""
        if missing := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
            self._vectors.update(zip(missing, self._embedder.embed(missing), strict=True))
        return np.array([self._vectors[text] for text in texts], dtype=np.float32)

    def learn(self, text: str) -> float:
        """Embeds ``text``, cached or not, and returns the milliseconds that it took."""
        start = time.perf_counter()
        (vector,) = self._embedder.embed([text])
        milliseconds = (time.perf_counter() - start) * 1000
        self._vectors[text] = vector
        return milliseconds

    def load(self) -> SentenceModel:
        """The other embedder's model."""
        return self._embedder.load()
