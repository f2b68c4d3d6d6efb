"""A random model of two small layers with the tokenizer of the default one, in both forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from generation.models.conversion import convert_gguf

# vLLM on a CPU knows heads of 64 numbers, but none of 16.
_LAYERS, _WIDTH, _HEADS, _CACHED_HEADS, _INNER = 2, 128, 2, 1, 128
_CHANGED = {
    "qwen2.block_count": _LAYERS,
    "qwen2.context_length": 8192,
    "qwen2.embedding_length": _WIDTH,
    "qwen2.feed_forward_length": _INNER,
    "qwen2.attention.head_count": _HEADS,
    "qwen2.attention.head_count_kv": _CACHED_HEADS,
}


def write_tiny_model(original: Path, into: Path) -> tuple[Path, Path]:
    """The GGUF file, and the folder for vLLM; ``original`` is the default model's GGUF file."""
    import gguf

    reader = gguf.GGUFReader(original)
    file = into / "tiny.gguf"
    writer = gguf.GGUFWriter(file, "qwen2")
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        kind = field.types[0]
        value = _CHANGED.get(name, field.contents())
        if kind == gguf.GGUFValueType.ARRAY:
            writer.add_key_value(name, value, kind, sub_type=field.types[1])
        elif name != "general.file_type":
            writer.add_key_value(name, value, kind)
    random = np.random.default_rng(0)
    words = len(reader.fields["tokenizer.ggml.tokens"].data)
    for name, shape in _list_tensors(words):
        values = np.ones(shape) if "norm" in name else random.normal(0, 0.05, shape)
        writer.add_tensor(name, values.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    folder = into / "tiny"
    folder.mkdir()
    convert_gguf(file, folder)
    return file, folder


def _list_tensors(words: int) -> list[tuple[str, tuple[int, ...]]]:
    cached = _WIDTH // _HEADS * _CACHED_HEADS
    found: list[tuple[str, tuple[int, ...]]] = [
        ("token_embd.weight", (words, _WIDTH)),
        ("output_norm.weight", (_WIDTH,)),
    ]
    for layer in range(_LAYERS):
        block = f"blk.{layer}"
        found += [
            (f"{block}.attn_norm.weight", (_WIDTH,)),
            (f"{block}.ffn_norm.weight", (_WIDTH,)),
            (f"{block}.attn_q.weight", (_WIDTH, _WIDTH)),
            (f"{block}.attn_q.bias", (_WIDTH,)),
            (f"{block}.attn_k.weight", (cached, _WIDTH)),
            (f"{block}.attn_k.bias", (cached,)),
            (f"{block}.attn_v.weight", (cached, _WIDTH)),
            (f"{block}.attn_v.bias", (cached,)),
            (f"{block}.attn_output.weight", (_WIDTH, _WIDTH)),
            (f"{block}.ffn_gate.weight", (_INNER, _WIDTH)),
            (f"{block}.ffn_up.weight", (_INNER, _WIDTH)),
            (f"{block}.ffn_down.weight", (_WIDTH, _INNER)),
        ]
    return found
