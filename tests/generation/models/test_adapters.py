from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from generation.models.adapters import check_adapter, hash_adapter, read_adapter_rank
from nl2sql.errors import SettingsError

MODULE = "model.layers.{}.self_attn.v_proj"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"num_hidden_layers": 2}))
    weights = {f"{MODULE.format(layer)}.weight": np.zeros((16, 64), np.float16) for layer in (0, 1)}
    save_file(weights, folder / "model.safetensors")
    return folder


def write_adapter(
    folder: Path, layer: int = 1, inputs: int = 64, outputs: int = 16, **config: object
) -> Path:
    folder.mkdir()
    plain = {"r": 8, "lora_alpha": 8, "target_modules": ["v_proj"], "bias": "none"}
    unused: dict[str, object] = {"use_dora": False, "modules_to_save": None, "rank_pattern": {}}
    (folder / "adapter_config.json").write_text(json.dumps({**plain, **unused, **config}))
    shapes = {"A": (8, inputs), "B": (outputs, 8)}
    name = f"base_model.model.{MODULE.format(layer)}.lora_{{}}.weight"
    weights = {name.format(part): np.ones(shape, np.float16) for part, shape in shapes.items()}
    save_file(weights, folder / "adapter_model.safetensors")
    return folder


def test_an_adapter_of_this_model_is_taken(model: Path, tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "a")
    check_adapter(adapter, model)
    assert read_adapter_rank(adapter) == 8
    weights = (adapter / "adapter_model.safetensors").read_bytes()
    assert hash_adapter(adapter) == hashlib.sha256(weights).hexdigest()


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"layer": 2}, "there is no layer 2 in it"),
        ({"inputs": 96}, r"its model\.layers\.1\.self_attn\.v_proj is 64 wide, not 96"),
        ({"outputs": 32}, "v_proj is 16 wide, not 32"),
        ({"use_dora": True}, "uses use_dora, which vLLM does not support"),
        ({"bias": "all", "modules_to_save": ["lm_head"]}, "uses modules_to_save and bias, which"),
    ],
)
def test_an_adapter_that_vllm_cannot_use_is_told(
    written: dict[str, Any], message: str, model: Path, tmp_path: Path
) -> None:
    adapter = write_adapter(tmp_path / "a", **written)
    with pytest.raises(SettingsError, match=message):
        check_adapter(adapter, model)


@pytest.mark.parametrize("left_out", ["adapter_config.json", "adapter_model.safetensors"])
def test_half_an_adapter_is_told(left_out: str, model: Path, tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "a")
    (adapter / left_out).unlink()
    with pytest.raises(SettingsError, match=r"model\.adapter: .* holds no adapter in peft's form"):
        check_adapter(adapter, model)
