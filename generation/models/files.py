"""Files of the model store: hashes, disk space, the manifest of a ready folder, what a source gave.

It is normal that a source does not have a file, so that is a value (`NoFile`).
"""

from __future__ import annotations

import errno
import hashlib
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class NoFile:
    """Why a source failed, as a text after its name and a colon.

    ``wrong``: it provided another file.
    """

    reason: str
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """An unverified file. ``ours``: the store downloaded it and may move or delete it."""

    file: Path
    origin: str
    ours: bool


class Manifest(BaseModel):
    """The content and origin of a folder; a folder with a manifest is ready.

    ``sha256`` has the verified hash of the downloaded file. For a converted model that is the GGUF
    file, which is not in the folder; a user's own file has no hash, and a snapshot has none here:
    its ``revision`` is its commit.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    source: str
    revision: str = ""
    sha256: dict[str, str] = {}
    weight_bytes: int | None = None


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder; None if there is no readable one."""
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except (OSError, ValidationError):
        return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, the last file before a folder gets its final name."""
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")


def sha256_of(file: Path) -> str:
    """SHA-256 in lower-case hexadecimal digits."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def folder_bytes(path: Path) -> int:
    """The size of a file, or of all files below a folder; those deleted meanwhile do not count."""
    total = 0
    for file in (path, *path.rglob("*")):
        with suppress(OSError):
            if not file.is_dir():
                total += file.lstat().st_size
    return total


def free_bytes_at(folder: Path) -> int:
    """The free bytes on the disk of ``folder`` for this user."""
    return shutil.disk_usage(folder).free


def is_disk_full(error: BaseException | None) -> bool:
    """Whether ``error`` or one of its causes is a full disk or an exceeded quota."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        error = error.__cause__ or error.__context__
    return False


def remove_path(path: Path) -> None:
    """Delete a file, or a folder with its content; a missing path is not an error."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
