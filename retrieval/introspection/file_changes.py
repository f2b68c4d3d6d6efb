"""Whether a database that is a file has changed."""

from __future__ import annotations

from pathlib import Path


def read_file_mark(path: Path, *suffixes: str) -> str:
    """Time and size of the file and of the log beside it; empty when it cannot be told."""
    found = []
    for each in (path, *(path.with_name(path.name + suffix) for suffix in suffixes)):
        try:
            status = each.stat()
        except OSError:
            if each == path:
                return ""
            continue
        found.append(f"{status.st_mtime_ns} {status.st_size}")
    return ", ".join(found)
