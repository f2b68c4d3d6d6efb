"""What a source of a model's file answers, and the simplest source: a local folder.

A source that does not have the file is an everyday thing, so it is a value (`Missing`). The
sources do not verify: one SHA-256 in the store decides about all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from generation.models.registry import FolderSource


@dataclass(frozen=True, slots=True)
class Fetched:
    """An unverified file. ``ours``: it was made by a source here and may be moved or deleted."""

    file: Path
    origin: str
    ours: bool


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a source is of no use, in words that follow its name and a colon.

    ``wrong``: it did answer, but with something else than the file.
    """

    reason: str
    wrong: bool = False


def find_in_folders(
    source: FolderSource, file_name: str, folders: Sequence[Path]
) -> Fetched | Missing:
    """The file in the source's own folder, or in the first of ``folders`` that holds it.

    It stays where it is: it is read there, and never moved or deleted.
    """
    places = (source.path,) if source.path is not None else tuple(folders)
    for place in places:
        if (place / file_name).is_file():
            return Fetched(place / file_name, f"folder {place}", ours=False)
    return Missing(f"no {file_name} in {' or '.join(map(str, places)) or 'any folder'}")
