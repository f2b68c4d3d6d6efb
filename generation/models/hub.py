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
from pathlib import Path
from typing import Protocol

from generation.models.files import NoFile, is_disk_full, remove_path

_CONNECT_TIMEOUT_S = 5.0
# What vLLM needs. Subfolders hold the weights in other formats.
_WANTED = ["*.safetensors", "*.json", "*.txt", "*.jinja", "tokenizer.model"]
_UNWANTED = ["*/*"]


class Hub(Protocol):
    """The hub's interface for the store."""

    def fetch(self, repo: str, name: str, into: Path) -> tuple[Path, str] | NoFile:
        """Download an unverified file below the folder ``into``, and return it with its commit.

        Continues a partial download.
        """

    def fetch_snapshot(self, repo: str, into: Path) -> str | NoFile:
        """Download and verify what vLLM needs, and return its commit.

        Files that are right stay if others are not.
        """


class HubClient:
    """`Hub` over ``huggingface_hub``, which is imported at the first request.

    ``endpoint``: another hub than the public one (None: as the library is configured). Raises
    OSError if the disk is full; all other errors are returned as `NoFile`.
    """

    def __init__(self, endpoint: str | None = None) -> None:
        self._endpoint = endpoint

    def fetch(self, repo: str, name: str, into: Path) -> tuple[Path, str] | NoFile:
        """Download with the library, which keeps partial downloads below ``into``."""
        try:
            commit = self._find_commit(repo)
            from huggingface_hub import hf_hub_download

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

    def fetch_snapshot(self, repo: str, into: Path) -> str | NoFile:
        """Download and verify with the library, and delete what is not as announced."""
        try:
            commit = self._find_commit(repo)
            from huggingface_hub import HfApi, snapshot_download

            snapshot_download(
                repo,
                revision=commit,
                local_dir=into,
                allow_patterns=_WANTED,
                ignore_patterns=_UNWANTED,
                endpoint=self._endpoint,
                etag_timeout=_CONNECT_TIMEOUT_S,
            )
            checked = HfApi(self._endpoint).verify_repo_checksums(
                repo, revision=commit, local_dir=into
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
        if not (into / "config.json").is_file() or not any(into.glob("*.safetensors")):
            return NoFile("it has no config.json with *.safetensors beside it")
        remove_path(into / ".cache")  # the library's metadata
        return commit

    def _find_commit(self, repo: str) -> str:
        # The library reads this once, when it is imported.
        os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
        from huggingface_hub import HfApi
        from huggingface_hub.utils.tqdm import disable_progress_bars

        disable_progress_bars()
        return str(HfApi(self._endpoint).model_info(repo, timeout=_CONNECT_TIMEOUT_S).sha)


def _describe(error: Exception) -> NoFile:
    """What the library's error says; it raises those of its HTTP library too."""
    if is_disk_full(error):
        raise error
    lines = str(error).strip().splitlines()
    return NoFile(f"{type(error).__name__}: {lines[0] if lines else 'no details'}")
