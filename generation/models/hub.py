"""Downloads files and snapshots from the Hugging Face hub.

Only `HubClient` uses ``huggingface_hub``; it returns errors as values. A short request first checks
whether the machine is online, because the library's downloads retry for half a minute.
``HF_HUB_OFFLINE``, proxies and tokens work as the library documents; its telemetry is off.

Does not verify files. Not covered: models in the library's own cache; name their folder instead.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from generation.models.files import is_disk_full
from generation.models.sources import Missing

CONNECT_TIMEOUT_S = 5.0


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
