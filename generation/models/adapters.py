"""LoRA adapters on the disk: a folder that tuning wrote has both engines' forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from generation.models.files import sha256_of
from nl2sql.errors import SettingsError

PURPOSES = frozenset({"generate"})
"""The purposes of prompts for which an adapter is used: it was trained on no others."""

SETTING = "model.adapter"
"""Where an adapter is named, for messages."""

LINEAR_LAYERS = {
    "self_attn": ("q_proj", "k_proj", "v_proj", "o_proj"),
    "mlp": ("gate_proj", "up_proj", "down_proj"),
}
"""The linear layers of a block, by its part: those that adapters of `quorumsql tune` change."""

GGUF_ADAPTER = "adapter.gguf"
PEFT_CONFIG, PEFT_ADAPTER = "adapter_config.json", "adapter_model.safetensors"


def hash_adapter(adapter: Path, *, named: str = SETTING) -> str:
    """SHA-256 of the file that an engine takes. Raises SettingsError if it cannot be read."""
    file = adapter / PEFT_ADAPTER
    try:
        return sha256_of(file)
    except OSError as error:
        raise SettingsError(
            f"{named}: {file} cannot be read: {error.strerror or error}.",
            hint="Name a folder that `quorumsql tune` wrote.",
        ) from error


def read_adapter_rank(adapter: Path, named: str = SETTING) -> int:
    """The rank of the adapter in a folder in peft's form, which vLLM takes.

    Raises SettingsError if it is not one; ``named`` is where the user named it.
    """
    return int(_read_config(adapter, named)["r"])


def read_adapter_scale(adapter: Path, named: str = SETTING) -> float:
    """What the adapter adds is multiplied by this. Raises SettingsError likewise."""
    config = _read_config(adapter, named)
    return float(config.get("lora_alpha", 0)) / int(config["r"])


def check_peft_adapter(adapter: Path, model: Path, named: str = SETTING) -> None:
    """Checks that the adapter fits the model in the folder ``model``. Raises SettingsError.

    vLLM would notice only at the first question. ``named`` is where the user named the adapter.
    """
    _read_config(adapter, named)
    config = json.loads((model / "config.json").read_text("utf-8"))
    layers, width = config["num_hidden_layers"], config["hidden_size"]
    try:
        with safe_open(adapter / PEFT_ADAPTER, framework="np") as tensors:
            names = tensors.keys()
            shapes = {name: tensors.get_slice(name).get_shape() for name in names}
    except (OSError, SafetensorError) as error:
        raise _build_error(adapter, error, named) from error
    for name, shape in shapes.items():
        layer = name.partition(".layers.")[2].partition(".")[0]
        if not layer.isdigit() or int(layer) >= layers:
            wrong = f"there is no layer {layer or name} in it"
        elif name.endswith("self_attn.q_proj.lora_A.weight") and shape[1] != width:
            wrong = f"its layers are {width} wide, not {shape[1]}"
        else:
            continue
        raise build_mismatch(adapter, model, wrong, named)


def build_mismatch(adapter: Path, model: Path, wrong: str, named: str = SETTING) -> SettingsError:
    """The error for an adapter of another model; ``wrong`` says what differs."""
    return SettingsError(
        f"{named}: {adapter} was made for another model than {model.name}: {wrong}.",
        hint="Name the adapter of this model, or its model under model.name.",
    )


def _read_config(adapter: Path, named: str) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads((adapter / PEFT_CONFIG).read_text("utf-8"))
        int(config["r"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _build_error(adapter, error, named) from error
    return config


def _build_error(adapter: Path, error: Exception, named: str) -> SettingsError:
    return SettingsError(
        f"{named}: {adapter} holds no adapter for vLLM ({error}).",
        hint=f"Name a folder with {PEFT_CONFIG}, as `quorumsql tune` writes it.",
    )
