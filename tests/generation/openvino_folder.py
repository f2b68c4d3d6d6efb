"""A folder that looks like a model in OpenVINO's form, without any weights."""

from __future__ import annotations

import json
from pathlib import Path

CONFIG = {
    "max_position_embeddings": 2048,
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
"""In the cache a token takes 2 layers · 2 heads · (16 + 16) · 2 bytes = 256."""


def write_folder(folder: Path) -> Path:
    """Fills the folder and returns it."""
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "openvino_model.xml").write_text("<net/>")
    (folder / "openvino_model.bin").write_bytes(bytes(1000))
    return folder
