"""An embedder that remembers."""

from __future__ import annotations

import numpy as np

from evaluation.retrieval.remembered_embedder import RememberedEmbedder
from tests.fakes import FakeEmbedder


def test_a_text_is_embedded_once() -> None:
    inner = FakeEmbedder()
    embedder = RememberedEmbedder(inner)
    first = embedder.embed(["a b", "c", "a b"])
    assert inner.texts == ["a b", "c"]
    assert np.array_equal(embedder.embed(["c", "a b"]), first[[1, 0]])
    assert inner.texts == ["a b", "c"]
    assert embedder.name == inner.name


def test_learning_takes_time_and_is_remembered() -> None:
    inner = FakeEmbedder()
    embedder = RememberedEmbedder(inner)
    assert embedder.learn("a") > 0
    embedder.embed(["a"])
    assert inner.texts == ["a"]
