"""Reads the header of a GGUF file in a fraction of a second.

Reads the metadata (except arrays) and the shapes of the tensors, and checks that the file is
complete. The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from nl2sql.errors import ModelCorrupt

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_SCALARS = {
    **{0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?"},
    **{10: "<Q", 11: "<q", 12: "<d"},
}
# Type of a tensor → (weights in a block, bytes of a block). For other types the size is unknown.
_BLOCKS = {
    **{0: (1, 4), 1: (1, 2), 30: (1, 2)},  # F32, F16, BF16
    **{2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34)},  # Q4_0 to Q8_0
    **{10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210)},  # Q2_K …
}
_ALIGNMENT = 32
_MOST_DIMENSIONS = 4

Value = str | int | float | bool


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """``shapes`` of the tensors by name, rows last; ``weight_bytes`` is their total size."""

    metadata: Mapping[str, Value]
    shapes: Mapping[str, tuple[int, ...]]
    weight_bytes: int

    def find_text(self, key: str) -> str:
        """A text of the metadata; empty if it is missing."""
        found = self.metadata.get(key, "")
        return found if isinstance(found, str) else ""

    def find_count(self, key: str) -> int | None:
        """A number of the architecture, such as ``block_count``; None if it is missing."""
        found = self.metadata.get(f"{self.architecture}.{key}")
        return found if isinstance(found, int) else None

    @property
    def architecture(self) -> str:
        """The architecture's name in llama.cpp: ``qwen2``, ``llama``."""
        return self.find_text("general.architecture")


def read_header(path: Path) -> GgufHeader:
    """Raises ModelCorrupt for a file that is unreadable, not GGUF, or incomplete."""
    try:
        with path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise ModelCorrupt(f"{path} is not a GGUF file.", hint="Name a GGUF file.")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _Reader(path, content).read()
    except OSError as error:
        raise ModelCorrupt(
            f"{path} cannot be read: {error.strerror or error}.",
            hint="Does the file exist, and may this user read it?",
        ) from error


class _Reader:
    """Reads from position ``_at``; a position after the end means that the file is incomplete."""

    def __init__(self, path: Path, content: mmap.mmap) -> None:
        self._path = path
        self._content = content
        self._at = len(_MAGIC)

    def read(self) -> GgufHeader:
        version = self._read_number("<I")
        if version not in _VERSIONS:
            raise ModelCorrupt(
                f"{self._path} is a GGUF file of version {version}, not 2 or 3.",
                hint="Convert the model again, or download a newer file of it.",
            )
        tensors, values = self._read_number("<Q"), self._read_number("<Q")
        metadata: dict[str, Value] = {}
        for _ in range(values):
            key, value = self._read_text(), self._read_value(self._read_number("<I"))
            if value is not None:
                metadata[key] = value
        shapes: dict[str, tuple[int, ...]] = {}
        ends = [0]
        for _ in range(tensors):
            name = self._read_text()
            dimensions = self._read_number("<I")
            if dimensions > _MOST_DIMENSIONS:
                raise self._incomplete(self._at)
            shapes[name] = tuple(self._read_number("<Q") for _ in range(dimensions))
            weights, size = _BLOCKS.get(self._read_number("<I"), (1, 0))
            start = self._read_number("<Q")
            ends.append(start + math.prod(shapes[name]) // weights * size)
        alignment = metadata.get("general.alignment", _ALIGNMENT)
        if not isinstance(alignment, int) or alignment < 1:
            raise self._incomplete(self._at)
        needed = -(-self._at // alignment) * alignment + max(ends)
        if needed > len(self._content):
            raise self._incomplete(needed)
        return GgufHeader(metadata, shapes, max(ends))

    def _read_value(self, kind: int) -> Value | None:
        """The value; None for an array, which is skipped."""
        if kind == _STRING:
            return self._read_text()
        if kind != _ARRAY:
            return self._read_number(self._find_scalar(kind))
        kind, count = self._read_number("<I"), self._read_number("<Q")
        if kind == _STRING:
            for _ in range(count):
                self._skip(self._read_number("<Q"))
        else:
            self._skip(count * struct.calcsize(self._find_scalar(kind)))
        return None

    def _find_scalar(self, kind: int) -> str:
        if kind not in _SCALARS:
            raise self._incomplete(self._at)
        return _SCALARS[kind]

    def _read_number(self, form: str) -> int:
        # Also reads floats; callers that need an integer check the type.
        start = self._skip(struct.calcsize(form))
        number: int = struct.unpack_from(form, self._content, start)[0]
        return number

    def _read_text(self) -> str:
        size = self._read_number("<Q")
        start = self._skip(size)
        return self._content[start : start + size].decode(errors="replace")

    def _skip(self, size: int) -> int:
        """Skips ``size`` bytes and returns the position where they begin."""
        start, self._at = self._at, self._at + size
        if self._at > len(self._content):
            raise self._incomplete(self._at)
        return start

    def _incomplete(self, needed: int) -> ModelCorrupt:
        return ModelCorrupt(
            f"{self._path} is damaged or incomplete: it has {len(self._content):,} bytes, "
            f"and would need {needed:,} or more.",
            hint="Download it again; in the store with `quorumsql model remove`, then `pull`.",
        )
