"""The formats of models that engines need, and how they come about."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from generation.models.openvino_conversion import convert_to_openvino
from generation.models.registry import ModelEntry


@dataclass(frozen=True, slots=True)
class Form:
    """A form of models. ``suffix`` ends the folder's name; ``label`` names it to people.

    ``convert`` fills an empty folder from a downloaded file, or raises ModelError; it needs an
    entry's ``converted_bytes`` of additional space so many times as ``copies``. None: a snapshot of
    the hub is in this form. ``is_model`` checks whether a path is a model in this form; ``wanted``
    describes such a path.
    """

    suffix: str
    label: str
    convert: Callable[[Path, Path], None] | None
    copies: int
    is_model: Callable[[Path], bool]
    wanted: str

    def folder_name(self, entry: ModelEntry) -> str:
        """The name of the folder of a model in this form, below the cache."""
        return f"{entry.slot}{self.suffix}"

    def room_bytes(self, entry: ModelEntry) -> int:
        """The space that the form needs in addition to the downloaded file."""
        return entry.converted_bytes * self.copies


def copy_file(file: Path, into: Path) -> None:
    """Copy ``file`` into the folder ``into``."""
    shutil.copyfile(file, into / file.name)


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
    label="safetensors",
    convert=None,
    copies=1,
    is_model=lambda path: (path / "config.json").is_file(),
    wanted="a folder in the format of transformers",
)
"""For vLLM: a folder in the format of transformers."""

EMBEDDER = Form(
    suffix=".embedder",
    label="float32",
    convert=copy_file,
    copies=0,
    is_model=lambda path: path.is_file() and path.suffix == ".safetensors",
    wanted="a .safetensors file",
)
"""For the embedder: the downloaded file."""

FORMS = (OPENVINO, SAFETENSORS)
