"""LoRA adapters on the disk: a folder that tuning wrote has both engines' forms."""

from __future__ import annotations

import json
from pathlib import Path

from nl2sql.errors import SettingsError

PURPOSES = frozenset({"generate"})
"""The purposes of prompts for which an adapter is used: it was trained on no others."""

_GGUF, _CONFIG = "adapter.gguf", "adapter_config.json"


def find_gguf_adapter(adapter: Path) -> Path:
    """The file for llama.cpp: the one in the folder ``adapter``, or ``adapter`` itself."""
    return adapter / _GGUF if adapter.is_dir() else adapter


def read_adapter_rank(adapter: Path) -> int:
    """The rank of the adapter in a folder in peft's form, which vLLM takes.

    Raises SettingsError if it is not one.
    """
    try:
        rank = json.loads((adapter / _CONFIG).read_text("utf-8"))["r"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(
            f"model.adapter: {adapter} holds no adapter for vLLM ({error}).",
            hint=f"Name a folder with {_CONFIG}, as `quorumsql tune` writes it.",
        ) from error
    return int(rank)
