"""Recognises changes of a database file."""

from __future__ import annotations

from pathlib import Path


def read_file_mark(path: Path, *suffixes: str) -> str:
    """Modification time and size of the file and of its logs; empty if it cannot be read."""
    found = []
    for file in (path, *(path.with_name(path.name + suffix) for suffix in suffixes)):
        try:
            status = file.stat()
        except OSError:
            if file == path:
                return ""
            continue
        found.append(f"{status.st_mtime_ns} {status.st_size}")
    return ", ".join(found)
