"""The results of a source of a model's file, and the simplest source: a local folder.

It is normal that a source does not have the file, so that is a value (`Missing`). Sources do not
verify files; the store checks their SHA-256.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generation.models.registry import FolderSource


@dataclass(frozen=True, slots=True)
class Fetched:
    """An unverified file. ``ours``: the store downloaded it and may move or delete it."""

    file: Path
    origin: str
    ours: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a source failed, as a text after its name and a colon.

    ``wrong``: it provided another file.
    """

    reason: str
    wrong: bool = False


def find_in_folders(
    source: FolderSource, file_name: str, folders: Sequence[Path]
) -> Fetched | Missing:
    """The file in the source's folder, or in the first of ``folders`` that contains it.

    It is used in place, and never moved or deleted.
    """
    places = (source.path,) if source.path is not None else tuple(folders)
    for place in places:
        if (place / file_name).is_file():
            return Fetched(place / file_name, f"folder {place}", ours=False)
    return Missing(f"no {file_name} in {' or '.join(map(str, places)) or 'any folder'}")
