"""Vectors of the default model against those of sentence-transformers, as it made them once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nl2sql.errors import SettingsError
from retrieval.embedding.embedder import Embedder, find_installed_weights

TEXTS = (
    "total revenue by month",
    "customers: customer_id, name, city",
    "顧客 ünïcode CAFÉ e\u0301",
    "x",
    "",
    "order line amount " * 200,
    "How many orders were shipped last month?",
)
# Written by sentence-transformers 5.6 from TEXTS.
VECTORS = Path(__file__).parent / "minilm_vectors.npy"


@pytest.fixture(scope="module")
def vectors() -> NDArray[np.float32]:
    return Embedder().embed(TEXTS)


def test_vectors_are_those_of_sentence_transformers(vectors: NDArray[np.float32]) -> None:
    np.testing.assert_allclose(vectors, np.load(VECTORS), atol=1e-5)


def test_a_text_has_the_same_vector_alone_and_among_others(vectors: NDArray[np.float32]) -> None:
    embedder = Embedder()
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(embedder.embed([text])[0], vector, atol=1e-5)


@pytest.mark.vllm
def test_a_model_that_is_not_there_is_told() -> None:
    with pytest.raises(SettingsError, match="nowhere"):
        Embedder("/nowhere/at/all").embed(["x"])


def test_weights_that_cannot_be_found_are_told() -> None:
    def find_nothing() -> Path:
        raise FileNotFoundError("nothing is installed")

    with pytest.raises(SettingsError, match="nothing is installed"):
        Embedder(find_weights=find_nothing).embed(["x"])


@pytest.mark.vllm
def test_another_model_is_sentence_transformers_own(vectors: NDArray[np.float32]) -> None:
    found = Embedder(str(find_installed_weights().parent)).embed(TEXTS)
    np.testing.assert_allclose(found, vectors, atol=1e-5)
