"""LoRA adapters on the disk: folders in the form of peft."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError, safe_open

from generation.models.files import sha256_of
from nl2sql.errors import SettingsError

PURPOSES = frozenset({"generate"})
"""The purposes of prompts for which an adapter is used: the exported pairs have no others."""

SETTING = "model.adapter"
"""Where an adapter is named, for messages."""

# What vLLM lacks, or ignores before 0.32, of peft: keys of its configuration.
_NOT_IN_VLLM = ("use_dora", "modules_to_save", "bias", "rank_pattern", "alpha_pattern")

PEFT_CONFIG, PEFT_ADAPTER = "adapter_config.json", "adapter_model.safetensors"


def hash_adapter(adapter: Path) -> str:
    """SHA-256 of the weights. Raises SettingsError if they cannot be read."""
    with _reading(adapter):
        return sha256_of(adapter / PEFT_ADAPTER)


def read_adapter_rank(adapter: Path) -> int:
    """The rank of an adapter. Raises SettingsError if the folder holds none."""
    with _reading(adapter):
        return int(json.loads((adapter / PEFT_CONFIG).read_text("utf-8"))["r"])


def check_adapter(adapter: Path, model: Path) -> None:
    """Checks that vLLM can use the adapter with the model in the folder ``model``.

    Its engine would die at the first question. Raises SettingsError.
    """
    read_adapter_rank(adapter)
    config = json.loads((adapter / PEFT_CONFIG).read_text("utf-8"))
    if found := [key for key in _NOT_IN_VLLM if (config.get(key) or "none") != "none"]:
        raise SettingsError(
            f"{SETTING}: {adapter} uses {' and '.join(found)}, which vLLM does not support.",
            hint="Train the adapter without it.",
        )
    layers = json.loads((model / "config.json").read_text("utf-8"))["num_hidden_layers"]
    with _reading(adapter):
        shapes = _read_shapes(adapter / PEFT_ADAPTER)
    weights = {key: at for file in model.glob("*.safetensors") for key, at in _read_shapes(file)}
    for name, shape in shapes:
        layer = name.partition(".layers.")[2].partition(".")[0]
        module, _, part = name.removeprefix("base_model.model.").partition(".lora_")
        # Quantized weights may have other names and shapes, as "qweight".
        weight, at = weights.get(f"{module}.weight"), int(part == "A.weight")
        if not layer.isdigit() or int(layer) >= layers:
            wrong = f"there is no layer {layer or name} in it"
        elif weight is not None and shape[at] != weight[at]:
            wrong = f"its {module} is {weight[at]} wide, not {shape[at]}"
        else:
            continue
        raise SettingsError(
            f"{SETTING}: {adapter} was made for another model than {model.name}: {wrong}.",
            hint="Name the adapter of this model, or its model under model.name.",
        )


def _read_shapes(file: Path) -> list[tuple[str, list[int]]]:
    with safe_open(file, framework="np") as tensors:
        names = tensors.keys()
        return [(name, tensors.get_slice(name).get_shape()) for name in names]


@contextmanager
def _reading(adapter: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise SettingsError(
            f"{SETTING}: {adapter} holds no adapter in peft's form ({error}).",
            hint=f"Name a folder with {PEFT_CONFIG} and {PEFT_ADAPTER}.",
        ) from error
