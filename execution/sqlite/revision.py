"""The revision of an SQLite file's data: a text that differs after every change.

A connection of its own asks SQLite for ``PRAGMA data_version``, which changes with each commit of
any other connection or process, in every journal mode: by it SQLite itself knows that its cache is
out of date. The number has a meaning only for that connection, so a token of the connection belongs
to the revision. A file that was replaced is opened again; renaming the former one back changes
its ``ctime``.

Does not see that a folder of the path was exchanged and put back between two looks.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
from pathlib import Path

from nl2sql.sql.names import build_sqlite_uri


class FileRevisions:
    """Reads the revision of one file, in any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._token = ""
        self._file = (0, 0)

    def read(self) -> str:
        """The revision; empty if the file cannot be read now, or is locked by a writer."""
        with self._lock:
            try:
                before = os.stat(self._path)
                if self._connection is None or self._file != (before.st_dev, before.st_ino):
                    self._open()
                assert self._connection is not None
                (version,) = self._connection.execute("PRAGMA data_version").fetchone()
                after = os.stat(self._path)
                link = os.lstat(self._path)
            except (OSError, sqlite3.Error):
                return ""
            self._file = (before.st_dev, before.st_ino)
            if self._file != (after.st_dev, after.st_ino):
                # It is not known which of the two files is open.
                self._close()
                return ""
            return f"{self._token} {version} {after.st_ctime_ns} {link.st_ino} {link.st_ctime_ns}"

    def close(self) -> None:
        """Closes the connection; a later call opens it again."""
        with self._lock:
            self._close()

    def _open(self) -> None:
        self._close()
        # Waits for nobody: an unknown revision costs little.
        self._connection = sqlite3.connect(
            build_sqlite_uri(self._path),
            uri=True,
            timeout=0,
            isolation_level=None,
            check_same_thread=False,
        )
        self._token = secrets.token_hex(8)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
