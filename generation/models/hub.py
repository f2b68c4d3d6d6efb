"""Downloads files and snapshots from the Hugging Face hub.

Only `HubClient` uses ``huggingface_hub``; it returns errors as values. A short request first checks
whether the machine is online, because the library's downloads retry for half a minute.
``HF_HUB_OFFLINE``, proxies and tokens work as the library documents; its telemetry is off.

A single file is not verified here. Of a snapshot, for which the registry has no SHA-256, every file
is compared with the SHA-256 that the hub publishes or, for small files stored in git, with its git
blob id (SHA-1). This detects damage during the download, but does not protect against a malicious
hub. Repositories whose weights exist only as pickles are refused, because loading a pickle runs
code; for the same reason no ``*.py`` file is downloaded. Not covered: models in the library's own
cache; name their folder instead.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

from generation.models.files import (
    Missing,
    git_blob_id_of,
    is_disk_full,
    remove_path,
    sha256_of,
)
from generation.models.progress import Meter, watch_growth

CONNECT_TIMEOUT_S = 5.0
_SUFFIXES = frozenset({".safetensors", ".json", ".txt", ".jinja"})
_NAMES = frozenset({"tokenizer.model"})


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file in the hub's listing; ``sha256`` is None for small files that are stored in git."""

    name: str
    bytes: int
    sha256: str | None
    blob_id: str | None


@dataclass(frozen=True, slots=True)
class HubListing:
    """A repository's files at one commit."""

    commit: str
    files: tuple[HubFile, ...]


class Hub(Protocol):
    """The hub's interface for the store."""

    def list_files(self, repo: str, revision: str) -> HubListing | Missing:
        """The files of the commit that ``revision`` refers to now."""

    def fetch(self, repo: str, commit: str, name: str, into: Path) -> Path | Missing:
        """Download an unverified file below the folder ``into``; continues a partial download."""


class HubClient:
    """`Hub` over ``huggingface_hub``, which is imported at the first request.

    ``endpoint``: another hub than the public one (None: as the library is configured). Raises
    OSError if the disk is full; all other errors are returned as `Missing`.
    """

    def __init__(self, endpoint: str | None = None) -> None:
        self._endpoint = endpoint

    def list_files(self, repo: str, revision: str) -> HubListing | Missing:
        """One request with a timeout of `CONNECT_TIMEOUT_S`."""
        _quieten_library()
        from huggingface_hub import HfApi

        try:
            info = HfApi(endpoint=self._endpoint).model_info(
                repo, revision=revision, files_metadata=True, timeout=CONNECT_TIMEOUT_S
            )
        except Exception as error:  # as in fetch
            return Missing(_reason(error))
        files = tuple(
            HubFile(
                name=sibling.rfilename,
                bytes=sibling.size or 0,
                sha256=sibling.lfs.sha256 if sibling.lfs else None,
                blob_id=sibling.blob_id,
            )
            for sibling in info.siblings or ()
        )
        return HubListing(commit=info.sha or revision, files=files)

    def fetch(self, repo: str, commit: str, name: str, into: Path) -> Path | Missing:
        """Download with the library, which keeps partial downloads below ``into``."""
        _quieten_library()
        from huggingface_hub import hf_hub_download

        try:
            file = hf_hub_download(
                repo,
                name,
                revision=commit,
                local_dir=into,
                endpoint=self._endpoint,
                etag_timeout=CONNECT_TIMEOUT_S,
            )
        except Exception as error:
            # The library also raises errors of its HTTP library, which depends on its version.
            if is_disk_full(error):
                raise
            return Missing(_reason(error))
        return Path(file)


def _quieten_library() -> None:
    """Turns off telemetry and the library's progress bars."""
    # The library reads this once, when it is imported.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no details'}"


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
