"""Writes an adapter of peft as a GGUF file, the form that llama.cpp takes.

The format is that of llama.cpp's ``convert_lora_to_gguf.py`` (MIT): the tensors ``….lora_a`` and
``….lora_b`` beside the names of the model's own, and ``adapter.lora.alpha``. Covers the
architectures whose weights llama.cpp stores as they are; others (Llama) reorder rows.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from generation.models.adapters import PEFT_ADAPTER, PEFT_CONFIG
from generation.tuning.training import INSTALL_TUNE
from nl2sql.errors import ModelError

# The architecture's name in transformers and in llama.cpp.
_ARCHITECTURES = {"qwen2": "qwen2", "qwen3": "qwen3"}
_TENSOR = re.compile(r"base_model\.model\.(?P<layer>.+)\.lora_(?P<part>[AB])\.weight")


def write_gguf_adapter(adapter: Path, model: Path, into: Path) -> None:
    """Converts the adapter in the folder ``adapter``, which was made for the one in ``model``.

    Raises ModelError for a missing library, another architecture, or an unknown tensor.
    """
    try:
        import gguf
        import numpy as np
        from safetensors import safe_open
    except ImportError as error:
        raise ModelError(f"Writing a GGUF file needs {error.name}.", hint=INSTALL_TUNE) from error
    config = json.loads((model / "config.json").read_text("utf-8"))
    lora = json.loads((adapter / PEFT_CONFIG).read_text("utf-8"))
    name = _ARCHITECTURES.get(config["model_type"])
    if name is None:
        raise ModelError(
            f"Adapters for {config['model_type']} cannot be written for llama.cpp.",
            hint=f"Tune one of {', '.join(_ARCHITECTURES)}, or use the adapter with vLLM.",
        )
    architecture = next(key for key, value in gguf.MODEL_ARCH_NAMES.items() if value == name)
    names = gguf.get_tensor_name_map(architecture, config["num_hidden_layers"])
    writer = gguf.GGUFWriter(into, name)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(lora["lora_alpha"]))
    with safe_open(adapter / PEFT_ADAPTER, framework="np") as tensors:
        for key in sorted(tensors.keys()):
            found = _TENSOR.fullmatch(key)
            layer = found and names.get_name(f"{found['layer']}.weight", (".weight",))
            if not found or not layer:
                raise ModelError(
                    f"{adapter} has a tensor {key!r} that llama.cpp does not know.",
                    hint="Adapters of linear layers can be converted.",
                )
            values = tensors.get_tensor(key).astype(np.float16)
            writer.add_tensor(f"{layer}.lora_{found['part'].lower()}", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
