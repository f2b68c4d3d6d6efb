"""Small GGUF files, right and wrong ones, made by hand."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

Value = str | int | Sequence[str] | Sequence[int]

TINY: Mapping[str, Value] = {
    "general.architecture": "tiny",
    "general.type": "model",
    "tiny.block_count": 2,
    "tiny.context_length": 2048,
    "tiny.embedding_length": 64,
    "tiny.attention.head_count": 4,
    "tiny.attention.head_count_kv": 2,
    "tokenizer.ggml.tokens": ("a", "b"),
    "tokenizer.chat_template": "{{ messages }}",
}
"""A model. In the cache a token takes 2 layers · 2 heads · (16 + 16) · 2 bytes = 256."""

ADAPTER: Mapping[str, Value] = {"general.architecture": "tiny", "general.type": "adapter"}
PAIR: Mapping[str, tuple[int, ...]] = {
    "blk.0.attn_q.weight.lora_a": (64, 8),
    "blk.0.attn_q.weight.lora_b": (8, 32),
}
"""The metadata and the tensors of an adapter for that model."""

TENSORS: Mapping[str, tuple[int, ...]] = {"blk.0.attn_q.weight": (64, 32), "output.weight": (64, 8)}


def write_gguf(
    path: Path,
    metadata: Mapping[str, Value] = TINY,
    tensors: Mapping[str, tuple[int, ...]] = TENSORS,
    *,
    version: int = 3,
) -> Path:
    """A whole file; its weights are zeros, in 32 bits each."""
    head = [b"GGUF", struct.pack("<IQQ", version, len(tensors), len(metadata))]
    for key, value in metadata.items():
        head += [_pack(key), _pack_value(value)]
    offset = 0
    for name, shape in tensors.items():
        head.append(_pack(name))
        head.append(struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, 0, offset))
        offset += math.prod(shape) * 4
    content = b"".join(head)
    padding = -len(content) % 32
    path.write_bytes(content + bytes(padding + offset))
    return path


def _pack(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _pack_value(value: Value) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", 8) + _pack(value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    texts = [item for item in value if isinstance(item, str)]
    numbers = [item for item in value if isinstance(item, int)]
    kind = 8 if texts else 5
    packed = [_pack(text) for text in texts] + [struct.pack("<i", number) for number in numbers]
    return struct.pack("<IIQ", 9, kind, len(packed)) + b"".join(packed)
