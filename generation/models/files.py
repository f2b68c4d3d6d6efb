"""Files of the model store: hashes, room on the disk, and the manifest of a ready folder.

Knows nothing about where files come from.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from nl2sql.errors import DiskFull

MANIFEST = "manifest.json"
_CHUNK_BYTES = 1 << 20


class Manifest(BaseModel):
    """What a ready folder is and where it came from; its presence is what makes it ready.

    ``sha256`` holds the verified hash of each file that was fetched. For a converted model that is
    the GGUF, which is not in the folder. Small files of a hub snapshot have ``git:`` and the
    SHA-1 of their git blob instead, because the hub publishes nothing better for them.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    source: str
    revision: str = ""
    sha256: dict[str, str]
    dtype: str
    created_by: str
    created_at: str
    conversion_s: float | None = None


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest of a folder, or None where there is none that can be read."""
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except (OSError, ValidationError):
        return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest: the last file to enter a folder before it gets its final name."""
    (folder / MANIFEST).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")


def sha256_of(file: Path) -> str:
    """SHA-256 in lower-case hex, read in pieces."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def git_blob_id_of(file: Path) -> str:
    """The id git gives to the file's content: SHA-1 over a header with its size, then the bytes."""
    digest = hashlib.sha1(f"blob {file.stat().st_size}\0".encode(), usedforsecurity=False)
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def folder_bytes(folder: Path) -> int:
    """Bytes of all files below ``folder``; files that vanish while counting are not counted."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except OSError:
                continue
    return total


def render_gigabytes(count: int) -> str:
    """Decimal gigabytes, as disks are sold.

    >>> render_gigabytes(1_271_801_932)
    '1.27 GB'
    """
    return f"{count / 1e9:.2f} GB"


def free_bytes_at(folder: Path) -> int:
    """Bytes that this user may still write on the disk of ``folder``."""
    return shutil.disk_usage(folder).free


def check_room(folder: Path, needed_bytes: int, free_bytes: Callable[[Path], int]) -> None:
    """Raise DiskFull where fewer than ``needed_bytes`` are free."""
    free = free_bytes(folder)
    if free < needed_bytes:
        raise DiskFull(
            f"The model needs {render_gigabytes(needed_bytes)} in {folder}, and "
            f"{render_gigabytes(free)} are free there.",
            hint="Free some room, or choose another folder for models.",
        )


def is_disk_full(error: BaseException | None) -> bool:
    """Whether the disk (or the user's quota) ran full, here or in a cause of ``error``."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        # safetensors writes in Rust and raises an error of its own that holds only this text.
        if f"(os error {errno.ENOSPC})" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def remove_path(path: Path) -> None:
    """Delete a file or a folder with all it holds; not being there is fine."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
