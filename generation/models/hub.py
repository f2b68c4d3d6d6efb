"""Files and snapshots from the Hugging Face hub.

`HubClient` is the only place that knows ``huggingface_hub``, and turns its errors into values.
An offline machine is noticed by one short request before anything else, because the library's
downloads try for half a minute. ``HF_HUB_OFFLINE``, proxies and tokens work as the library
documents them; its telemetry is off.

Does not verify anything. Does not cover models that sit in the library's own cache: name their
folder instead.
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
    """A file as the hub announces it; ``sha256`` is None for small files kept in git itself."""

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
    """What the store needs of a hub."""

    def list_files(self, repo: str, revision: str) -> HubListing | Missing:
        """The files of the commit that ``revision`` stands for now."""

    def fetch(self, repo: str, commit: str, name: str, into: Path) -> Path | Missing:
        """One unverified file, below the folder ``into``; an earlier part of it is continued."""


class HubClient:
    """`Hub` over ``huggingface_hub``, which is imported at the first request.

    ``endpoint``: another hub than the public one (None: as the library is configured). Raises
    OSError where the disk is full; everything else that goes wrong is a `Missing`.
    """

    def __init__(self, endpoint: str | None = None) -> None:
        self._endpoint = endpoint

    def list_files(self, repo: str, revision: str) -> HubListing | Missing:
        """One request, given up after `CONNECT_TIMEOUT_S`."""
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
        """Download with the library, which keeps a broken download below ``into`` itself."""
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
            # The library lets the errors of its HTTP library through, which depends on its version.
            if is_disk_full(error):
                raise
            return Missing(_reason(error))
        return Path(file)


def _quieten_library() -> None:
    """No telemetry, and no bars beside the store's own."""
    # The library reads this once, when it is imported.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no details'}"
