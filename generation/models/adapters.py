"""LoRA adapters on the disk: folders in the form of peft."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open

from generation.models.files import sha256_of
from nl2sql.errors import SettingsError

PURPOSES = frozenset({"generate"})
"""The purposes of prompts for which an adapter is used: the exported pairs have no others."""

SETTING = "model.adapter"
"""Where an adapter is named, for messages."""

PEFT_CONFIG, PEFT_ADAPTER = "adapter_config.json", "adapter_model.safetensors"


def hash_adapter(adapter: Path) -> str:
    """SHA-256 of the weights. Raises SettingsError if they cannot be read."""
    try:
        return sha256_of(adapter / PEFT_ADAPTER)
    except OSError as error:
        raise _build_error(adapter, error) from error


def read_adapter_rank(adapter: Path) -> int:
    """The rank of an adapter. Raises SettingsError if the folder holds none."""
    try:
        config = json.loads((adapter / PEFT_CONFIG).read_text("utf-8"))
        return int(config["r"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _build_error(adapter, error) from error


def check_adapter(adapter: Path, model: Path) -> None:
    """Checks that the adapter fits the model in the folder ``model``. Raises SettingsError.

    vLLM would notice only at the first question.
    """
    read_adapter_rank(adapter)
    config = json.loads((model / "config.json").read_text("utf-8"))
    layers, width = config["num_hidden_layers"], config["hidden_size"]
    try:
        with safe_open(adapter / PEFT_ADAPTER, framework="np") as tensors:
            names = tensors.keys()
            shapes = {name: tensors.get_slice(name).get_shape() for name in names}
    except (OSError, SafetensorError) as error:
        raise _build_error(adapter, error) from error
    for name, shape in shapes.items():
        layer = name.partition(".layers.")[2].partition(".")[0]
        if not layer.isdigit() or int(layer) >= layers:
            wrong = f"there is no layer {layer or name} in it"
        elif name.endswith("self_attn.q_proj.lora_A.weight") and shape[1] != width:
            wrong = f"its layers are {width} wide, not {shape[1]}"
        else:
            continue
        raise SettingsError(
            f"{SETTING}: {adapter} was made for another model than {model.name}: {wrong}.",
            hint="Name the adapter of this model, or its model under model.name.",
        )


def _build_error(adapter: Path, error: Exception) -> SettingsError:
    return SettingsError(
        f"{SETTING}: {adapter} holds no adapter in peft's form ({error}).",
        hint=f"Name a folder with {PEFT_CONFIG} and {PEFT_ADAPTER}.",
    )
