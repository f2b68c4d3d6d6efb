"""all-MiniLM-L6-v2 in NumPy: computes its sentence vectors without a deep learning library.

A BERT of six layers (Devlin et al. 2019, arXiv:1810.04805) whose last layer is averaged over the
tokens, as the model's card says. Reads the model's weights and the tokenizer beside this file;
``test_minilm.py`` compares the vectors with those of sentence-transformers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

Array = NDArray[np.float32]

# Tokens of a batch, padding included: more do not fit into the processor's cache.
_BATCH_TOKENS = 1024
# Longer texts are truncated, as the model's card says.
_MOST_TOKENS = 256
# Batches that are computed at the same time.
_MOST_THREADS = 8
# From the model's config.json.
_HEADS = 12
_LAYERS = 6
_EPSILON = np.float32(1e-12)
# The model's tokenizer.json as it was published, Apache-2.0.
_TOKENIZER = Path(__file__).with_name("minilm_tokenizer.json")
# Added to the attention scores of padding, so that it gets no weight.
_MASKED = np.float32(-1e9)


class MiniLm:
    """The model in memory, 90 MB. ``weights`` is its safetensors file."""

    def __init__(self, weights: Path) -> None:
        """Raises OSError if the file does not exist."""
        from safetensors.numpy import load_file
        from threadpoolctl import ThreadpoolController
        from tokenizers import Tokenizer

        self._weights: Mapping[str, Array] = load_file(weights)
        self._libraries = ThreadpoolController()
        self._tokenizer = Tokenizer.from_file(str(_TOKENIZER))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.no_padding()

    def embed(self, texts: Sequence[str]) -> Array:
        """Unit vectors, shape ``(len(texts), 384)``."""
        encoded = [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
        # Texts of similar length share a batch, so that there is little padding.
        order = sorted(range(len(encoded)), key=lambda index: -len(encoded[index]))
        batches: list[list[int]] = []
        while order:
            # The longest comes first; the others are padded to its length.
            size = max(1, _BATCH_TOKENS // max(1, len(encoded[order[0]])))
            batches.append(order[:size])
            order = order[size:]
        width = self._weights["embeddings.word_embeddings.weight"].shape[1]
        vectors = np.empty((len(encoded), width), dtype=np.float32)

        def embed(chosen: list[int]) -> None:
            vectors[chosen] = self._embed_batch([encoded[index] for index in chosen])

        # A thread for each batch instead of several in BLAS: those wait for one another by
        # spinning, and only compute the multiplications. While another process kept the other core
        # busy, a question of 40 tokens cost 240 to 580 ms of processor time with several, and 25 ms
        # with one.
        count = min(len(batches), os.cpu_count() or 1, _MOST_THREADS)
        with (
            self._libraries.limit(limits=1, user_api="blas"),
            ThreadPoolExecutor(count or 1) as pool,
        ):
            list(pool.map(embed, batches))
        return vectors

    def _embed_batch(self, batch: Sequence[Sequence[int]]) -> Array:
        longest = max(map(len, batch))
        ids = np.zeros((len(batch), longest), dtype=np.int64)
        real = np.zeros((len(batch), longest), dtype=np.float32)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            real[row, : len(tokens)] = 1.0
        hidden = self._encode(ids, (1.0 - real[:, None, None, :]) * _MASKED)
        mean = (hidden * real[:, :, None]).sum(axis=1) / real.sum(axis=1, keepdims=True)
        unit: Array = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit

    def _encode(self, ids: NDArray[np.int64], mask: Array) -> Array:
        weights = self._weights
        hidden = weights["embeddings.word_embeddings.weight"][ids]
        hidden = hidden + weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        hidden = hidden + weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._normalize(hidden, "embeddings.LayerNorm")
        for number in range(_LAYERS):
            layer = f"encoder.layer.{number}."
            attended = self._attend(hidden, mask, f"{layer}attention.self.")
            attended = self._multiply(attended, f"{layer}attention.output.dense")
            hidden = self._normalize(hidden + attended, f"{layer}attention.output.LayerNorm")
            wide = self._multiply(hidden, f"{layer}intermediate.dense")
            share = erf(wide * np.float32(0.5**0.5))
            share += 1.0
            wide *= share
            wide *= 0.5
            narrow = self._multiply(wide, f"{layer}output.dense")
            hidden = self._normalize(hidden + narrow, f"{layer}output.LayerNorm")
        return hidden

    def _attend(self, hidden: Array, mask: Array, name: str) -> Array:
        count, length, width = hidden.shape

        def split(part: str) -> Array:
            made = self._multiply(hidden, f"{name}{part}")
            return made.reshape(count, length, _HEADS, -1).transpose(0, 2, 1, 3)

        query, key, value = split("query"), split("key"), split("value")
        scores: Array = query @ key.transpose(0, 1, 3, 2)
        scores *= np.float32((width // _HEADS) ** -0.5)
        scores += mask
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        attended: Array = (scores @ value).transpose(0, 2, 1, 3).reshape(count, length, width)
        return attended

    def _multiply(self, hidden: Array, name: str) -> Array:
        # One large multiplication; without the reshape, NumPy does one for each text.
        rows = hidden.reshape(-1, hidden.shape[-1])
        product: Array = rows @ self._weights[f"{name}.weight"].T
        product += self._weights[f"{name}.bias"]
        return product.reshape(*hidden.shape[:-1], -1)

    def _normalize(self, hidden: Array, name: str) -> Array:
        centred: Array = hidden - hidden.mean(axis=-1, keepdims=True)
        variance = np.einsum("...i,...i->...", centred, centred)[..., None] / centred.shape[-1]
        centred /= np.sqrt(variance + _EPSILON)
        centred *= self._weights[f"{name}.weight"]
        centred += self._weights[f"{name}.bias"]
        return centred
