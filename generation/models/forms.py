"""The forms in which engines want a model, and how one is made of the file that was fetched."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generation.models.conversion import DTYPE, Converter, check_libraries, convert_gguf
from generation.models.registry import ModelEntry
from nl2sql.errors import ModelError


@dataclass(frozen=True, slots=True)
class Form:
    """``suffix`` is put behind the name of the model's folder; ``dtype`` is told in the manifest.

    ``copies``: what ``convert`` makes takes room beside the file, ``converted_bytes`` of an entry.
    ``check`` raises ModelError where the form cannot be made here. ``is_model`` tells whether a
    path that somebody names is one in this form, and ``wanted`` says what it would be.
    """

    suffix: str
    dtype: str
    convert: Converter
    copies: bool
    is_model: Callable[[Path], bool]
    wanted: str
    check: Callable[[], None] = lambda: None

    def folder_name(self, entry: ModelEntry) -> str:
        """Where a model in this form is, below the cache."""
        return f"{entry.slot}{self.suffix}"

    def room_bytes(self, entry: ModelEntry) -> int:
        """The room that the form takes beside the fetched file."""
        return entry.converted_bytes if self.copies else 0


def keep_file(file: Path, into: Path) -> None:
    """The same file under another name, so that it takes no room twice; what cannot be linked, a
    file on another disk, is named where it is. Raises ModelError."""
    target = into / file.name
    try:
        os.link(file, target)
    except OSError:
        try:
            target.symlink_to(file.absolute())
        except OSError as error:
            raise ModelError(
                f"{file} cannot be linked into {into}: {error.strerror or error}.",
                hint="Choose a folder for models on a disk that has links.",
            ) from error


def find_weights(path: Path) -> Path:
    """What llama.cpp loads: the file in a ready folder, or ``path`` where that is one already."""
    return next(path.glob("*.gguf")) if path.is_dir() else path


GGUF = Form(
    suffix=".gguf",
    dtype="GGUF",
    convert=keep_file,
    copies=False,
    is_model=lambda path: path.is_file() and path.suffix == ".gguf",
    wanted="a .gguf file",
)
"""For llama.cpp: the file as it was fetched."""

SAFETENSORS = Form(
    suffix="",
    dtype=DTYPE,
    convert=convert_gguf,
    copies=True,
    is_model=lambda path: (path / "config.json").is_file(),
    wanted="a folder in the format of transformers",
    check=check_libraries,
)
"""For vLLM: a folder in the format of transformers."""

EMBEDDER = Form(
    suffix=".embedder",
    dtype="float32",
    convert=keep_file,
    copies=False,
    is_model=lambda path: path.is_file() and path.suffix == ".safetensors",
    wanted="a .safetensors file",
)
"""For the embedder: the file as it was fetched."""

FORMS = (GGUF, SAFETENSORS)
