"""What was typed in conversations: a file that only its owner can read, or only in memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import History

_MOST_LINES = 1_000


class ChatHistory(History):
    """Entries as lines of JSON in a file of mode 0600; without a file they end with the program.

    What begins with a space is not kept. The last 1,000 entries stay in the file.
    """

    def __init__(self, path: Path | None) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        """The entries in the file, newest first."""
        return reversed(self._read())

    def store_string(self, string: str) -> None:
        """Adds an entry to the file; ignores a folder that is not writable."""
        if self._path is None or string.startswith(" "):
            return
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._write(json.dumps(string) + "\n", os.O_APPEND)

    def clear(self) -> None:
        """Forgets all entries, and deletes the file."""
        self._loaded_strings = []
        if self._path is not None:
            with suppress(OSError):
                self._path.unlink(missing_ok=True)

    def shorten(self) -> None:
        """Leaves only the last entries in the file."""
        entries = self._read()
        if self._path is not None and len(entries) > _MOST_LINES:
            with suppress(OSError):
                kept = entries[-_MOST_LINES:]
                self._write("".join(json.dumps(entry) + "\n" for entry in kept), os.O_TRUNC)

    def _read(self) -> list[str]:
        """The entries in the file, oldest first; a line that is none is left out."""
        if self._path is None:
            return []
        found = []
        with suppress(OSError, UnicodeDecodeError):
            for line in self._path.read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    entry = json.loads(line)
                    if isinstance(entry, str):
                        found.append(entry)
        return found

    def _write(self, text: str, mode: int) -> None:
        assert self._path is not None
        # A link in place of the file could lead the entries elsewhere.
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | mode
        descriptor = os.open(self._path, flags, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(text)


def open_history(path: Path | None) -> ChatHistory:
    """The history in a file; None: only in memory."""
    history = ChatHistory(path)
    history.shorten()
    return history
