"""Downloads files and snapshots from the Hugging Face hub.

Only `HubClient` uses ``huggingface_hub``; it returns errors as values. A short request first checks
whether the machine is online, because the library's downloads retry for half a minute.
``HF_HUB_OFFLINE``, proxies and tokens work as the library documents; its telemetry is off.

A single file is not verified here. Of a snapshot, for which the registry has no SHA-256, every file
is compared with the hash that the hub publishes. This detects damage during the download, but does
not protect against a malicious hub. Repositories whose weights exist only as pickles are refused,
because loading a pickle runs code; for the same reason no ``*.py`` file is downloaded. Not covered:
models in the library's own cache; name their folder instead.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from generation.models.files import NoFile, is_disk_full, remove_path

_CONNECT_TIMEOUT_S = 5.0
_SUFFIXES = frozenset({".safetensors", ".json", ".txt", ".jinja"})
_NAMES = frozenset({"tokenizer.model"})


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The files that vLLM needs of a repository at one commit: their hashes, and their bytes.

    A hash is a SHA-256 or, for a small file that is stored in git, ``git:`` and its blob's id.
    """

    repo: str
    commit: str
    hashes: Mapping[str, str]
    bytes: int


class Hub(Protocol):
    """The hub's interface for the store."""

    def fetch(self, repo: str, revision: str, name: str, into: Path) -> tuple[Path, str] | NoFile:
        """Download an unverified file below the folder ``into``, and return it with its commit.

        Continues a partial download.
        """

    def list_snapshot(self, repo: str, revision: str) -> Snapshot | NoFile:
        """The files of the commit that ``revision`` refers to now."""

    def fetch_snapshot(self, snapshot: Snapshot, into: Path) -> NoFile | None:
        """Download and verify the files; those that are right stay if others are not."""


class HubClient:
    """`Hub` over ``huggingface_hub``, which is imported at the first request.

    ``endpoint``: another hub than the public one (None: as the library is configured). Raises
    OSError if the disk is full; all other errors are returned as `NoFile`.
    """

    def __init__(self, endpoint: str | None = None) -> None:
        self._endpoint = endpoint

    def fetch(self, repo: str, revision: str, name: str, into: Path) -> tuple[Path, str] | NoFile:
        """Download with the library, which keeps partial downloads below ``into``."""
        _quieten_library()
        from huggingface_hub import hf_hub_download

        try:
            commit = self._find(repo, revision).sha
            file = hf_hub_download(
                repo,
                name,
                revision=commit,
                local_dir=into,
                endpoint=self._endpoint,
                etag_timeout=_CONNECT_TIMEOUT_S,
            )
        except Exception as error:
            return _describe(error)
        return Path(file), commit

    def list_snapshot(self, repo: str, revision: str) -> Snapshot | NoFile:
        """One request. Files in subfolders are left out: they hold the weights in other formats."""
        _quieten_library()
        try:
            info = self._find(repo, revision)
        except Exception as error:
            return _describe(error)
        chosen = [file for file in info.siblings or () if _is_wanted(file.rfilename)]
        names = [file.rfilename for file in chosen]
        if "config.json" not in names or not any(name.endswith(".safetensors") for name in names):
            return NoFile("it has no config.json with *.safetensors beside it")
        hashes = {
            file.rfilename: file.lfs.sha256 if file.lfs else f"git:{file.blob_id}"
            for file in chosen
        }
        return Snapshot(repo, info.sha, hashes, sum(file.size or 0 for file in chosen))

    def fetch_snapshot(self, snapshot: Snapshot, into: Path) -> NoFile | None:
        """Download and verify with the library, and delete what is not as announced."""
        _quieten_library()
        from huggingface_hub import HfApi, snapshot_download

        try:
            snapshot_download(
                snapshot.repo,
                revision=snapshot.commit,
                local_dir=into,
                allow_patterns=list(snapshot.hashes),
                endpoint=self._endpoint,
                etag_timeout=_CONNECT_TIMEOUT_S,
            )
            checked = HfApi(self._endpoint).verify_repo_checksums(
                snapshot.repo, revision=snapshot.commit, local_dir=into
            )
        except Exception as error:
            return _describe(error)
        for wrong in checked.mismatches:
            remove_path(into / wrong["path"])
        for wrong in checked.mismatches:
            return NoFile(
                f"{wrong['path']} is wrong: the hub announced {wrong['expected']}, it came as "
                f"{wrong['actual']}",
                wrong=True,
            )
        for path in into.iterdir():
            # The library's metadata, and files of an older commit from an interrupted pull.
            if path.name not in snapshot.hashes:
                remove_path(path)
        return None

    def _find(self, repo: str, revision: str) -> Any:
        from huggingface_hub import HfApi

        return HfApi(endpoint=self._endpoint).model_info(
            repo, revision=revision, files_metadata=True, timeout=_CONNECT_TIMEOUT_S
        )


def _is_wanted(name: str) -> bool:
    """Whether it holds weights, settings, a tokenizer or a template."""
    return (
        "/" not in name
        and not name.startswith(".")
        and (PurePosixPath(name).suffix in _SUFFIXES or name in _NAMES)
    )


def _quieten_library() -> None:
    """Turns off telemetry and the library's progress bars."""
    # The library reads this once, when it is imported.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()


def _describe(error: Exception) -> NoFile:
    """What the library's error says; it raises those of its HTTP library too."""
    if is_disk_full(error):
        raise error
    lines = str(error).strip().splitlines()
    return NoFile(f"{type(error).__name__}: {lines[0] if lines else 'no details'}")
