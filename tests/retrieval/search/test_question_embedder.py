"""Each question is embedded once, and gets its own vector."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from nl2sql.errors import SettingsError
from retrieval.embedding.embedder import QuestionEmbedder
from tests.fakes import FakeEmbedder


class BrittleEmbedder(FakeEmbedder):
    """Fails for an impossible text."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if "impossible" in texts:
            raise SettingsError("The model cannot be loaded.")
        return super().embed(texts)


async def test_questions_at_the_same_time_get_their_own_vectors_once() -> None:
    model = BrittleEmbedder()
    embedder = QuestionEmbedder(model)
    words = ["first", "second", "first", "third"]
    vectors = await asyncio.gather(*map(embedder.embed, words))
    for word, vector in zip(words, vectors, strict=True):
        assert np.array_equal(vector, FakeEmbedder().embed([word])[0])
    assert sorted(model.texts) == ["first", "second", "third"]
    with pytest.raises(SettingsError):
        await embedder.embed("impossible")
    assert len(await embedder.embed("possible")) == 64
