"""The formats of models that engines need, and how to make them from a downloaded file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generation.models.conversion import check_libraries, convert_gguf
from generation.models.openvino_conversion import convert_to_openvino
from generation.models.registry import ModelEntry
from nl2sql.errors import ModelError


@dataclass(frozen=True, slots=True)
class Form:
    """A form of models. ``suffix`` ends the folder's name; ``label`` names it to people.

    ``convert`` fills an empty folder from a downloaded file, or raises ModelError; it needs an
    entry's ``converted_bytes`` of additional space so many times as ``copies``. ``check`` raises
    ModelError if the form cannot be made on this machine. ``is_model`` checks whether a path is a
    model in this form; ``wanted`` describes such a path.
    """

    suffix: str
    label: str
    convert: Callable[[Path, Path], None]
    copies: int
    is_model: Callable[[Path], bool]
    wanted: str
    check: Callable[[], None] = lambda: None

    def folder_name(self, entry: ModelEntry) -> str:
        """The name of the folder of a model in this form, below the cache."""
        return f"{entry.slot}{self.suffix}"

    def room_bytes(self, entry: ModelEntry) -> int:
        """The space that the form needs in addition to the downloaded file."""
        return entry.converted_bytes * self.copies


def keep_file(file: Path, into: Path) -> None:
    """Link ``file`` into the folder ``into``, so that it takes no additional space.

    A file on another disk gets a symbolic link. Raises ModelError if neither is possible.
    """
    target = into / file.name
    try:
        os.link(file, target)
    except OSError:
        try:
            target.symlink_to(file.absolute())
        except OSError as error:
            raise ModelError(
                f"{file} cannot be linked into {into}: {error.strerror or error}.",
                hint="Choose a folder for models on a disk that supports links.",
            ) from error


OPENVINO = Form(
    suffix=".openvino",
    label="OpenVINO",
    convert=convert_to_openvino,
    # Unpacked twice while it is converted; a third of that stays.
    copies=2,
    is_model=lambda path: (path / "openvino_model.xml").is_file(),
    wanted="a .gguf file, or a folder in OpenVINO's form",
)
"""For OpenVINO: a folder in its own form."""

SAFETENSORS = Form(
    suffix="",
    label="bfloat16",
    convert=convert_gguf,
    copies=1,
    is_model=lambda path: (path / "config.json").is_file(),
    wanted="a folder in the format of transformers",
    check=check_libraries,
)
"""For vLLM: a folder in the format of transformers."""

EMBEDDER = Form(
    suffix=".embedder",
    label="float32",
    convert=keep_file,
    copies=0,
    is_model=lambda path: path.is_file() and path.suffix == ".safetensors",
    wanted="a .safetensors file",
)
"""For the embedder: the downloaded file."""

FORMS = (OPENVINO, SAFETENSORS)
