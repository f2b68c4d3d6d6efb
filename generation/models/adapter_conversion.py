"""Adapters in the two forms of the engines: a GGUF file, and a folder of peft.

The GGUF format is that of llama.cpp's ``convert_lora_to_gguf.py`` (MIT): the tensors ``….lora_a``
and ``….lora_b`` beside the names of the model's own, and ``adapter.lora.alpha``. Covers the
architectures whose weights llama.cpp stores as they are; others (Llama) reorder rows.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from generation.engines.choice import INSTALL_VLLM
from generation.models.adapters import LINEAR_LAYERS, PEFT_ADAPTER, PEFT_CONFIG
from generation.models.files import make_readable
from nl2sql.errors import ModelCorrupt, ModelError

# The architecture's name in transformers and in llama.cpp.
_ARCHITECTURES: Mapping[str, str] = {"qwen2": "qwen2", "qwen3": "qwen3"}
_PEFT_TENSOR = re.compile(r"base_model\.model\.(?P<layer>.+)\.lora_(?P<part>[AB])\.weight")
_BLOCK = re.compile(r"blk\.(\d+)\.")


def check_adapter_libraries() -> None:
    """Raise ModelError if libraries for converting are missing."""
    if importlib.util.find_spec("gguf") is None:
        raise ModelError(
            "vLLM needs the adapter in another form, and gguf is missing for that.",
            hint=f"{INSTALL_VLLM} Or set model.adapter: none.",
        )


def write_gguf_adapter(adapter: Path, model: Path, into: Path) -> None:
    """Converts the adapter in the folder ``adapter``, which was made for the one in ``model``.

    Needs the package gguf. Raises ModelError for another architecture, or an unknown tensor.
    """
    import gguf
    import numpy as np
    from safetensors import safe_open

    config = json.loads((model / "config.json").read_text("utf-8"))
    lora = json.loads((adapter / PEFT_CONFIG).read_text("utf-8"))
    name = _ARCHITECTURES.get(config["model_type"])
    if name is None:
        raise ModelError(
            f"Adapters for {config['model_type']} cannot be written for llama.cpp.",
            hint=f"Tune one of {', '.join(_ARCHITECTURES)}, or use the adapter with vLLM.",
        )
    names = dict(_list_names(name, config["num_hidden_layers"]))
    writer = gguf.GGUFWriter(into, name)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(lora["lora_alpha"]))
    with safe_open(adapter / PEFT_ADAPTER, framework="np") as tensors:
        for key in sorted(tensors.keys()):
            found = _PEFT_TENSOR.fullmatch(key)
            layer = found and names.get(found["layer"])
            if not found or not layer:
                raise ModelError(
                    f"{adapter} has a tensor {key!r} that llama.cpp does not know.",
                    hint="Adapters of linear layers can be converted.",
                )
            values = tensors.get_tensor(key).astype(np.float16)
            writer.add_tensor(f"{layer}.weight.lora_{found['part'].lower()}", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def convert_adapter(file: Path, into: Path) -> None:
    """Fills the folder ``into`` with the form of peft, from a GGUF file of `write_gguf_adapter`.

    Raises ModelCorrupt for a file with other tensors, or of another architecture.
    """
    import gguf
    from safetensors.numpy import save_file

    reader = gguf.GGUFReader(file)
    architecture = str(reader.fields["general.architecture"].contents())
    if architecture not in _ARCHITECTURES.values():
        raise ModelCorrupt(
            f"{file.name} is for {architecture}, whose layers cannot be converted for vLLM.",
            hint="Name the adapter in peft's form, or use llama.cpp.",
        )
    layers = 1 + max(
        (int(found[1]) for each in reader.tensors if (found := _BLOCK.match(each.name))), default=0
    )
    names = {gguf_name: name for name, gguf_name in _list_names(architecture, layers)}
    tensors: dict[str, Any] = {}
    for tensor in reader.tensors:
        layer, _, part = tensor.name.rpartition(".weight.lora_")
        if layer not in names:
            raise ModelCorrupt(
                f"{file.name} has a tensor {tensor.name!r}, which no layer of {architecture} has.",
                hint="Remove the file and fetch it again.",
            )
        tensors[f"base_model.model.{names[layer]}.lora_{part.upper()}.weight"] = tensor.data
    config = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": "",
        "r": min(min(values.shape) for values in tensors.values()),
        "lora_alpha": float(reader.fields["adapter.lora.alpha"].contents()),
        "target_modules": sorted({name.split(".")[-3] for name in tensors}),
        "inference_mode": True,
    }
    save_file(tensors, into / PEFT_ADAPTER)
    (into / PEFT_CONFIG).write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    make_readable(into)


def _list_names(architecture: str, layers: int) -> Iterator[tuple[str, str]]:
    """The linear layers in transformers and in llama.cpp."""
    import gguf

    number = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == architecture)
    found = gguf.get_tensor_name_map(number, layers)
    for layer in range(layers):
        for part, modules in LINEAR_LAYERS.items():
            for module in modules:
                name = f"model.layers.{layer}.{part}.{module}"
                if (gguf_name := found.get_name(name)) is not None:
                    yield name, gguf_name
