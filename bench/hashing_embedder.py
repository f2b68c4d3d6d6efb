"""Embeddings without a model, for measurements at sizes for which a model would need hours.

Each word has a random direction, and a text is the sum of its words: only texts that share words
are similar. The dimensions are those of the default model, so an index has the same size and speed
as a real one.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nl2sql.words import split_words
from retrieval.embedding.embedder import Embedder

NAME = "hashing-384"
_DIMENSIONS = 384


class HashingEmbedder(Embedder):
    """Embeds texts as unit vectors by hashing."""

    def __init__(self) -> None:
        super().__init__(NAME)
        self._directions: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length vectors, shape ``(len(texts), 384)``."""
        vectors = np.zeros((len(texts), _DIMENSIONS), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in split_words(text) or [""]:
                vectors[row] += self._direction(word)
        norms: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / norms, dtype=np.float32)

    def _direction(self, word: str) -> NDArray[np.float32]:
        if word not in self._directions:
            random = np.random.default_rng(zlib.crc32(word.encode()))
            self._directions[word] = random.standard_normal(_DIMENSIONS, dtype=np.float32)
        return self._directions[word]
