"""GGUF files, whole and damaged, read without a model's library."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from generation.models.gguf_header import read_header
from nl2sql.errors import ModelCorrupt
from tests.generation.gguf_files import TENSORS, write_gguf


def test_metadata_and_shapes_are_read_and_arrays_passed_over(tmp_path: Path) -> None:
    header = read_header(write_gguf(tmp_path / "m.gguf"))
    assert header.architecture == "tiny"
    assert header.find_count("context_length") == 2048
    assert header.find_count("unknown") is None
    assert header.find_text("tokenizer.ggml.tokens") == ""
    assert header.shapes == TENSORS
    assert header.weight_bytes == (64 * 32 + 64 * 8) * 4


def test_every_shorter_file_is_called_incomplete(tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "m.gguf").read_bytes()
    part = tmp_path / "part.gguf"
    for size in (*range(4, 600, 7), len(whole) - 1):
        part.write_bytes(whole[:size])
        with pytest.raises(ModelCorrupt, match=rf"has {size:,} bytes, and would need"):
            read_header(part)


WRONG: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "another format": (lambda whole: b"PK\3\4" + whole[4:], "is not a GGUF file"),
    "empty": (lambda whole: b"", "is not a GGUF file"),
    "version": (lambda whole: whole[:4] + struct.pack("<I", 9) + whole[8:], "of version 9"),
    "counts": (lambda whole: whole[:8] + b"\xff" * 16 + whole[24:], "damaged or incomplete"),
    "noise": (lambda whole: whole[:40] + b"\xff" * 200 + whole[240:], "damaged or incomplete"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_what_is_no_gguf_file_is_told(
    change: Callable[[bytes], bytes], message: str, tmp_path: Path
) -> None:
    path = write_gguf(tmp_path / "m.gguf")
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ModelCorrupt, match=message):
        read_header(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelCorrupt, match="No such file"):
        read_header(tmp_path / "none.gguf")
