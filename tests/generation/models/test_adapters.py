from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from generation.models.adapters import check_adapter, hash_adapter, read_adapter_rank
from nl2sql.errors import SettingsError

NAME = "base_model.model.model.layers.{}.self_attn.q_proj.lora_A.weight"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"num_hidden_layers": 2, "hidden_size": 64}))
    return folder


def write_adapter(folder: Path, layer: int = 1, width: int = 64) -> Path:
    folder.mkdir()
    (folder / "adapter_config.json").write_text(json.dumps({"r": 8}))
    save_file(
        {NAME.format(layer): np.zeros((8, width), np.float16)}, folder / "adapter_model.safetensors"
    )
    return folder


def test_an_adapter_of_this_model_is_taken(model: Path, tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "a")
    check_adapter(adapter, model)
    assert read_adapter_rank(adapter) == 8


@pytest.mark.parametrize(
    ("layer", "width", "message"),
    [(2, 64, "there is no layer 2 in it"), (0, 96, "its layers are 64 wide, not 96")],
)
def test_an_adapter_of_another_model_is_told(
    layer: int, width: int, message: str, model: Path, tmp_path: Path
) -> None:
    adapter = write_adapter(tmp_path / "a", layer, width)
    with pytest.raises(SettingsError, match=message):
        check_adapter(adapter, model)


@pytest.mark.parametrize("left_out", ["adapter_config.json", "adapter_model.safetensors"])
def test_half_an_adapter_is_told(left_out: str, model: Path, tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "a")
    (adapter / left_out).unlink()
    with pytest.raises(SettingsError, match=r"model\.adapter: .* holds no adapter in peft's form"):
        check_adapter(adapter, model)


def test_an_adapter_is_known_by_its_weights(tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "a")
    file = adapter / "adapter_model.safetensors"
    assert hash_adapter(adapter) == hashlib.sha256(file.read_bytes()).hexdigest()
    file.unlink()
    with pytest.raises(SettingsError, match="holds no adapter in peft's form"):
        hash_adapter(adapter)
