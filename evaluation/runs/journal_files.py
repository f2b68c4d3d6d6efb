"""Files of JSON lines that one process at a time writes, and that a kill can truncate."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from nl2sql.errors import SettingsError


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON lines of a file; a torn last one is left out."""
    if not path.exists():
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):
                yield json.loads(line)


def append_line(path: Path, value: Mapping[str, Any]) -> None:
    """Appends ``value`` to a file of JSON lines."""
    line = json.dumps(value, ensure_ascii=False) + "\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(line)


def drop_torn_line(path: Path) -> None:
    """Removes an incomplete last line; otherwise the next line would be appended to it."""
    with path.open("rb+") as file:
        content = file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            file.truncate(whole)


@contextmanager
def hold_lock(path: Path, busy: str, hint: str) -> Iterator[None]:
    """Holds the lock at ``path``. Raises SettingsError with ``busy`` when another process does."""
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise SettingsError(busy, hint=hint) from error
    try:
        yield
    finally:
        lock.release()
