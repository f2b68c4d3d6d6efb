"""A whole model out of a hub repository: which files, and whether they are what the hub announced.

No SHA-256 of ours is known for such a model. Every file is compared with the SHA-256 that the hub
publishes for it, or, for small files kept in git itself, with its git blob id (SHA-1). That
finds damage on the way; against a hub that lies it is no protection.

Does not cover repositories whose weights exist only as pickles: they are refused, because
loading a pickle runs code. For the same reason no ``*.py`` is ever taken.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath

from generation.models.files import git_blob_id_of, remove_path, sha256_of
from generation.models.hub import Hub, HubFile, HubListing
from generation.models.progress import Meter, watch_growth
from generation.models.sources import Missing

_SUFFIXES = frozenset({".safetensors", ".json", ".txt", ".jinja"})
_NAMES = frozenset({"tokenizer.model"})


def select_model_files(listing: HubListing) -> tuple[HubFile, ...] | Missing:
    """What vLLM needs of a repository: weights, settings, tokenizer, template.

    Nothing from subfolders, where repositories keep the same weights in other formats.
    """
    chosen = tuple(
        file
        for file in listing.files
        if "/" not in file.name
        and not file.name.startswith(".")
        and (PurePosixPath(file.name).suffix in _SUFFIXES or file.name in _NAMES)
    )
    names = [file.name for file in chosen]
    if "config.json" not in names or not any(name.endswith(".safetensors") for name in names):
        return Missing("it holds no config.json with *.safetensors beside it")
    return chosen


def take_snapshot(
    hub: Hub, repo: str, commit: str, files: tuple[HubFile, ...], into: Path, meter: Meter
) -> dict[str, str] | Missing:
    """Fetch and verify ``files`` into the folder ``into``; their hashes as the manifest has them.

    Files that came whole stay there if a later one fails. Raises OSError where the disk is full.
    """
    hashes: dict[str, str] = {}
    with watch_growth(into, meter):
        for file in files:
            fetched = hub.fetch(repo, commit, file.name, into)
            if isinstance(fetched, Missing):
                return Missing(f"{file.name}: {fetched.reason}")
            found = hash_as_announced(fetched, file)
            announced = file.sha256 if file.sha256 is not None else f"git:{file.blob_id}"
            if found != announced:
                remove_path(fetched)
                reason = f"{file.name} is wrong: the hub announced {announced}, it came as {found}"
                return Missing(reason, wrong=True)
            hashes[file.name] = found
    for path in into.iterdir():
        # The library's notes, and files of an older commit that an earlier pull was broken off at.
        if path.name not in hashes:
            remove_path(path)
    return hashes


def hash_as_announced(file: Path, announced: HubFile) -> str:
    """The file's hash of the kind that the hub announced: SHA-256, else ``git:`` and a blob id."""
    return f"git:{git_blob_id_of(file)}" if announced.sha256 is None else sha256_of(file)


def read_dtype(folder: Path) -> str:
    """The dtype that a model's config.json names, under its new name or its old one."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        return str(config.get("dtype") or config.get("torch_dtype") or "unknown")
    except (OSError, ValueError, AttributeError):
        return "unknown"
