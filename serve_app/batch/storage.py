"""Files and folders on any file system of pyarrow: this machine's, S3, Google Cloud Storage."""

from __future__ import annotations

import os
import posixpath
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import fs

from nl2sql.errors import SettingsError

_FORMS = "Paths are local, or URIs such as s3://bucket/folder and gs://bucket/folder."


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder; ``path`` is the one that ``filesystem`` knows. Survives pickle."""

    filesystem: Any
    path: str

    def __truediv__(self, name: str) -> Folder:
        return Folder(self.filesystem, posixpath.join(self.path, name))

    @property
    def local_path(self) -> str:
        """The path if the folder is on this machine, otherwise an empty string."""
        return self.path if isinstance(self.filesystem, fs.LocalFileSystem) else ""

    def create(self) -> None:
        """Creates the folder and its parents."""
        self.filesystem.create_dir(self.path, recursive=True)

    def list_files(self) -> list[Any]:
        """The files in this folder, without those of its folders, as ``pyarrow.fs.FileInfo``."""
        selector = fs.FileSelector(self.path, allow_not_found=True)
        found = self.filesystem.get_file_info(selector)
        return [info for info in found if info.type == fs.FileType.File]

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if it does not exist."""
        try:
            with self.filesystem.open_input_stream((self / name).path) as stream:
                content: bytes = stream.read()
                return content
        except FileNotFoundError:
            return None

    def write(self, name: str, content: bytes) -> None:
        """Writes a file as a whole: a reader sees all of it or nothing."""
        target = (self / name).path
        # Object stores show a file only once it is complete.
        written = f"{target}.{secrets.token_hex(4)}.part" if self.local_path else target
        with self.filesystem.open_output_stream(written) as stream:
            stream.write(content)
        if written != target:
            self.filesystem.move(written, target)


def open_folder(location: str) -> Folder:
    """The folder at a path or URI. Raises SettingsError."""
    with translate_errors(location):
        return Folder(*_resolve(location))


def find_files(location: str) -> tuple[Any, list[Any]]:
    """The file system, and the file at a path or URI or the files of a folder, by path.

    Files whose names begin with a dot or an underscore are left out. Raises SettingsError.
    """
    with translate_errors(location):
        filesystem, path = _resolve(location)
        info = filesystem.get_file_info(path)
        if info.type == fs.FileType.File:
            return filesystem, [info]
        files = [
            file
            for file in Folder(filesystem, path).list_files()
            if not posixpath.basename(file.path).startswith((".", "_"))
        ]
    if not files:
        raise SettingsError(f"There are no files at {location}.")
    return filesystem, sorted(files, key=lambda file: file.path)


def _resolve(location: str) -> tuple[Any, str]:
    if "://" in location:
        filesystem, path = fs.FileSystem.from_uri(location)
        return filesystem, path
    return fs.LocalFileSystem(), os.path.abspath(location)


@contextmanager
def translate_errors(location: str, hint: str = _FORMS) -> Iterator[None]:
    """Raises SettingsError for what pyarrow raises when it cannot use ``location``."""
    try:
        yield
    except (OSError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise SettingsError(
            f"{location} cannot be used: {str(error).partition(chr(10))[0]}", hint=hint
        ) from error
