"""Downloads a whole model from a hub repository and verifies it by the hub's hashes.

The registry has no SHA-256 for such a model. Every file is compared with the SHA-256 that the hub
publishes or, for small files stored in git, with its git blob id (SHA-1). This detects damage
during the download, but does not protect against a malicious hub.

Repositories whose weights exist only as pickles are refused, because loading a pickle runs code.
For the same reason no ``*.py`` file is downloaded.
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
    """The files that vLLM needs: weights, settings, tokenizer, template.

    Files in subfolders are left out: they contain the same weights in other formats.
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
        return Missing("it has no config.json with *.safetensors beside it")
    return chosen


def take_snapshot(
    hub: Hub, repo: str, commit: str, files: tuple[HubFile, ...], into: Path, meter: Meter
) -> dict[str, str] | Missing:
    """Download and verify ``files`` in the folder ``into``; returns their hashes for the manifest.

    Verified files stay there if a later one fails. Raises OSError if the disk is full.
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
        # The library's metadata, and files of an older commit from an interrupted pull.
        if path.name not in hashes:
            remove_path(path)
    return hashes


def hash_as_announced(file: Path, announced: HubFile) -> str:
    """The file's hash of the kind that the hub announced: SHA-256, or ``git:`` and a blob id."""
    return f"git:{git_blob_id_of(file)}" if announced.sha256 is None else sha256_of(file)


def read_dtype(folder: Path) -> str:
    """The dtype in a model's config.json, under the key ``dtype`` or the old ``torch_dtype``."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
        return str(config.get("dtype") or config.get("torch_dtype") or "unknown")
    except (OSError, ValueError, AttributeError):
        return "unknown"
