"""A model's folder in OpenVINO's form: checks before it is loaded, and its tokenizer.

Checks the files, the context against the training, and the free memory. The tokenizer runs in this
process, because the one that runs the model answers only between its steps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from generation.models.files import read_manifest
from nl2sql.errors import ModelCorrupt, SettingsError
from nl2sql.settings import ModelSettings

# The cache has room for this many prompts of the greatest length.
_CONTEXTS = 4
# Bytes of a number in the key-value cache.
_CACHED_BYTES = 2
# Memory of a running process in addition to weights and cache.
_OVERHEAD_BYTES = 300 * 2**20
_GIB = 2**30
# Cached files, whose memory the system can reclaim.
_RECLAIMABLE = ("active_file", "inactive_file")
_CONTAINER = Path("/sys/fs/cgroup")

_MODEL_BIN = "openvino_model.bin"
_TOKENIZER_CONFIG, _TOKENIZER = "tokenizer_config.json", "tokenizer.json"


@dataclass(frozen=True, slots=True)
class ContextRoom:
    """The memory for the weights, and for a token of the context."""

    weight_bytes: int
    token_bytes: int

    def needed_bytes(self, max_model_len: int) -> int:
        """The memory with room for ``_CONTEXTS`` prompts of that length."""
        return self.weight_bytes + self.token_bytes * max_model_len * _CONTEXTS + _OVERHEAD_BYTES

    def longest(self, free_bytes: int) -> int:
        """The largest ``max_model_len`` that fits, a multiple of 512; 0 if none fits."""
        left = free_bytes - self.needed_bytes(0)
        return max(0, left // (self.token_bytes * _CONTEXTS) // 512 * 512)


def check_model(folder: Path, settings: ModelSettings, free_bytes: int) -> ContextRoom:
    """Raises ModelCorrupt for unusable files, and SettingsError for unsuitable settings."""
    config = _read_config(folder)
    trained = int(config["max_position_embeddings"])
    if settings.max_model_len > trained:
        raise SettingsError(
            f"{folder.name} was trained for {trained:,} tokens, model.max_model_len is "
            f"{settings.max_model_len:,}.",
            hint=f"Set model.max_model_len to {trained} or less.",
        )
    room = ContextRoom(_measure_weights(folder), count_token_bytes(config))
    needed = room.needed_bytes(settings.max_model_len)
    if needed > free_bytes:
        longest = room.longest(free_bytes)
        raise SettingsError(
            f"{folder.name} with model.max_model_len {settings.max_model_len:,} needs "
            f"{needed / _GIB:.1f} GiB of memory, and {free_bytes / _GIB:.1f} GiB are free.",
            hint=f"Set model.max_model_len to {longest} or less, or close other programs."
            if longest
            else "Close other programs, or take a smaller model.",
        )
    return room


def count_cache_tokens(folder: Path, settings: ModelSettings) -> int:
    """The tokens in ``kv_cache_gib``, at least ``_CONTEXTS`` prompts of the greatest length."""
    kept = settings.kv_cache_gib * _GIB // count_token_bytes(_read_config(folder))
    return max(kept, settings.max_model_len * _CONTEXTS)


def count_token_bytes(config: dict[str, Any]) -> int:
    """The cache's bytes for a token in all layers.

    >>> count_token_bytes({"num_hidden_layers": 24, "num_attention_heads": 14, "hidden_size": 896,
    ...                    "num_key_value_heads": 2})
    12288
    """
    heads = int(config["num_attention_heads"])
    kept = int(config.get("num_key_value_heads") or heads)
    head = int(config.get("head_dim") or config["hidden_size"] // heads)
    return int(config["num_hidden_layers"]) * kept * head * 2 * _CACHED_BYTES


def check_no_adapter(adapter: Path | None) -> None:
    """Raises SettingsError for an adapter.

    OpenVINO GenAI applies one to all prompts or to none, and reads a beginning that prompts share
    once for all of them.
    """
    if adapter is not None:
        raise SettingsError(
            f"model.adapter: OpenVINO cannot use {adapter} for the prompts that ask for SQL alone.",
            hint="Use vLLM (model.engine: vllm), or set model.adapter to null.",
        )


def measure_free_memory(container: Path = _CONTAINER) -> int:
    """The bytes that this process can allocate, within the limits of machine and cgroup."""
    free: int = psutil.virtual_memory().available
    try:
        limit = int((container / "memory.max").read_text())
        use = int((container / "memory.current").read_text())
        pairs = (line.split() for line in (container / "memory.stat").read_text().splitlines())
        cached = sum(int(count) for name, count in pairs if name in _RECLAIMABLE)
    except (OSError, ValueError):  # no such file, or the word "max"
        return free
    return max(0, min(free, limit - use + cached))


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        config: dict[str, Any] = json.loads((folder / "config.json").read_text("utf-8"))
        count_token_bytes(config)
        int(config["max_position_embeddings"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelCorrupt(
            f"{folder}/config.json does not describe a language model ({error!r}).",
            hint="Name a folder with a model in OpenVINO's form, or a GGUF file.",
        ) from error
    return config


def _measure_weights(folder: Path) -> int:
    """The size of the weights. Raises ModelCorrupt if they are missing or cut off."""
    try:
        size = (folder / _MODEL_BIN).stat().st_size
    except OSError as error:
        raise ModelCorrupt(
            f"{folder / _MODEL_BIN} cannot be read: {error.strerror or error}.",
            hint="Remove the model with `quorumsql model remove` and pull it again.",
        ) from error
    manifest = read_manifest(folder)
    wanted = manifest.weight_bytes if manifest else None
    if wanted is not None and size != wanted:
        raise ModelCorrupt(
            f"{folder / _MODEL_BIN} is damaged: it has {size:,} bytes in place of {wanted:,}.",
            hint="Remove the model with `quorumsql model remove` and pull it again.",
        )
    return size


class OpenVinoTokenizer:
    """Has the interface that ``ChatEncoder`` needs. Loaded in a fraction of a second."""

    def __init__(self, folder: Path) -> None:
        import openvino_genai

        self._tokenizer = openvino_genai.Tokenizer(str(folder))
        self.added_tokens_decoder: Mapping[str, str] = read_marks(folder)

    def apply_chat_template(self, chat: Any, *, tokenize: bool, add_generation_prompt: bool) -> str:
        """The chat as text."""
        text: str = self._tokenizer.apply_chat_template(
            chat, add_generation_prompt=add_generation_prompt
        )
        return text

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """The ids of a text; halves of surrogate pairs are replaced."""
        if not text:
            return []
        whole = text.encode("utf-8", "replace").decode()
        ids: list[int] = (
            self._tokenizer.encode(whole, add_special_tokens=add_special_tokens)
            .input_ids.data[0]
            .tolist()
        )
        return ids

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of the tokens, without special ones."""
        text: str = self._tokenizer.decode(list(tokens)) if tokens else ""
        return text


def read_marks(folder: Path) -> Mapping[str, str]:
    """The tokens that a text can contain as marks, by number.

    Since transformers 5, exported folders have them in ``tokenizer.json`` alone. Raises
    ModelCorrupt if they are nowhere: a text could then imitate the marks of turns.
    """
    try:
        config = json.loads((folder / _TOKENIZER_CONFIG).read_text("utf-8"))
        if (named := config.get("added_tokens_decoder")) is not None:
            return {number: token["content"] for number, token in named.items()}
        tokens = json.loads((folder / _TOKENIZER).read_text("utf-8"))["added_tokens"]
        return {str(token["id"]): token["content"] for token in tokens}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelCorrupt(
            f"The tokenizer in {folder} does not say its special tokens ({error!r}).",
            hint="Name a folder with a model in OpenVINO's form, or a GGUF file.",
        ) from error
