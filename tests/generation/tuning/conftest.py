from __future__ import annotations

from pathlib import Path

import pytest

from generation.models.forms import GGUF, find_weights
from generation.models.store import ModelStore
from tests.conftest import ROOT
from tests.generation.tuning.tiny_model import write_tiny_model


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A random model as a GGUF file and as a folder; needs the weights that `make test` fetches."""
    folder = ModelStore(ROOT / ".quorumsql" / "models", GGUF).find("qwen2.5-coder-0.5b-instruct")
    assert folder is not None, "run `make weights` first"
    return write_tiny_model(find_weights(folder), tmp_path_factory.mktemp("tiny"))
