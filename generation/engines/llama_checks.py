"""Checks before loading whether llama.cpp can run a model on this machine.

Checks the file, the context against the training and the free memory, and an adapter against
the model. Not covered: architectures, since only llama.cpp knows which it supports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from generation.models.adapters import build_mismatch, find_gguf_adapter
from generation.models.gguf_header import GgufHeader, read_header
from nl2sql.errors import ModelCorrupt, SettingsError
from nl2sql.settings import ModelSettings

# The cache has room for this many prompts of the greatest length.
CONTEXTS = 4
# Bytes of a number in the key-value cache.
_CACHED_BYTES = 2
# Memory of a running server in addition to weights and cache.
_OVERHEAD_BYTES = 300 * 2**20
_GIB = 2**30
# Cached files, whose memory the system can reclaim.
_RECLAIMABLE = ("active_file", "inactive_file")
_CONTAINER = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class ContextRoom:
    """The memory for a context; ``token_bytes`` is None if it is unknown."""

    weight_bytes: int
    token_bytes: int | None

    def needed_bytes(self, max_model_len: int) -> int:
        """The memory with room for ``CONTEXTS`` prompts of that length."""
        cache = (self.token_bytes or 0) * max_model_len * CONTEXTS
        return self.weight_bytes + cache + _OVERHEAD_BYTES

    def longest(self, free_bytes: int) -> int:
        """The largest ``max_model_len`` that fits, a multiple of 512; 0 if none fits."""
        left = free_bytes - self.needed_bytes(0)
        return max(0, left // ((self.token_bytes or 1) * CONTEXTS) // 512 * 512)


def check_model(
    weights: Path, settings: ModelSettings, free_bytes: int, adapter: Path | None = None
) -> ContextRoom:
    """Raises ModelCorrupt for an unusable file, and SettingsError for unsuitable settings.

    ``free_bytes`` is the free memory, ``adapter`` a folder or a GGUF file.
    """
    header = read_header(weights)
    _check_kind(weights, header)
    _check_context(weights, header, settings.max_model_len)
    room = ContextRoom(header.weight_bytes, _count_token_bytes(header))
    needed = room.needed_bytes(settings.max_model_len)
    if needed > free_bytes:
        longest = room.longest(free_bytes)
        raise SettingsError(
            f"{weights.name} with model.max_model_len {settings.max_model_len:,} needs "
            f"{needed / _GIB:.1f} GiB of memory, and {free_bytes / _GIB:.1f} GiB are free.",
            hint=f"Set model.max_model_len to {longest} or less, or close other programs."
            if longest
            else "Close other programs, or take a smaller model.",
        )
    if adapter is not None:
        _check_adapter(find_gguf_adapter(adapter), weights, header)
    return room


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


def _check_kind(weights: Path, header: GgufHeader) -> None:
    kind = header.find_text("general.type")
    if kind not in ("", "model") or not header.architecture or not header.shapes:
        raise ModelCorrupt(
            f"{weights.name} holds no model{f', but kind {kind!r}' if kind else ''}.",
            hint="An adapter goes under model.adapter; model.name wants the model itself.",
        )
    if not header.find_text("tokenizer.chat_template"):
        raise ModelCorrupt(
            f"{weights.name} ({header.architecture}) has no chat template, so it takes no "
            "instructions.",
            hint="Use the file of an instruct model.",
        )


def _check_context(weights: Path, header: GgufHeader, max_model_len: int) -> None:
    trained = header.find_count("context_length")
    if trained is not None and max_model_len > trained:
        raise SettingsError(
            f"{weights.name} was trained for {trained:,} tokens, model.max_model_len is "
            f"{max_model_len:,}.",
            hint=f"Set model.max_model_len to {trained} or less.",
        )


def _count_token_bytes(header: GgufHeader) -> int | None:
    """The cache's bytes for a token in all layers; None if layers differ or have no cache."""
    layers, heads = header.find_count("block_count"), header.find_count("attention.head_count")
    kept = header.find_count("attention.head_count_kv") or heads
    width = header.find_count("embedding_length")
    if header.find_count("attention.sliding_window") or not (layers and heads and kept and width):
        return None
    head = width // heads
    key = header.find_count("attention.key_length") or head
    value = header.find_count("attention.value_length") or head
    return layers * kept * (key + value) * _CACHED_BYTES


def _check_adapter(adapter: Path, weights: Path, model: GgufHeader) -> None:
    try:
        header = read_header(adapter)
    except ModelCorrupt as error:
        hint = "Name a GGUF file of a LoRA adapter under model.adapter."
        raise SettingsError(f"model.adapter: {error.message}", hint=hint) from error
    if header.find_text("general.type") != "adapter":
        raise SettingsError(
            f"model.adapter: {adapter} is not a LoRA adapter.",
            hint="`quorumsql tune` and convert_lora_to_gguf.py of llama.cpp make some.",
        )
    if wrong := next(_find_differences(header, model), ""):
        raise build_mismatch(adapter, weights, wrong)


def _find_differences(adapter: GgufHeader, model: GgufHeader) -> Iterator[str]:
    if adapter.architecture != model.architecture:
        yield f"its architecture is {adapter.architecture}, not {model.architecture}"
    for name, shape in adapter.shapes.items():
        target, _, part = name.rpartition(".lora_")
        base = model.shapes.get(target)
        if base is None or part not in ("a", "b"):
            yield f"there is no {target or name} in it"
        # a maps into the few dimensions of the adapter, b out of them. For embeddings both are
        # transposed.
        elif not target.startswith("token_embd") and (
            shape[0] != base[0] if part == "a" else shape[-1] != base[-1]
        ):
            yield f"{target} has another shape there"
