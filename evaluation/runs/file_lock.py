"""Locks a file, so that one process at a time writes it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from nl2sql.errors import SettingsError


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
