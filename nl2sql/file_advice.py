"""What to do about a database file that cannot be read, the same wherever it is read.

Knows the first bytes of the files and the words of DuckDB's messages, and no driver.
"""

from __future__ import annotations

import os
import re
from importlib.metadata import version
from pathlib import Path

# Which DuckDB wrote a file that none since 0.9 reads (duckdb.org/docs/internals/storage).
_WRITTEN_BY = {51: "0.8", 43: "0.7", 39: "0.6", 38: "0.5", 33: "0.4"}
_STORAGE = re.compile(r"storage version number (\d+), .* between (\d+) and (\d+)")
# In the header of an SQLite file: the versions that reading and writing need, 2 in WAL mode.
_WAL_VERSIONS = slice(18, 20)


def advise_duckdb(path: Path, reason: str) -> str:
    """What to do where DuckDB says ``reason`` of the file."""
    if "Conflicting lock" in reason or "already attached" in reason:
        return (
            f"Another process has {path} open for writing. DuckDB allows one writer or many "
            "readers: let the writer finish, or give QuorumSQL a copy of the file."
        )
    ours = version("duckdb")
    if found := _STORAGE.search(reason):
        number, _, newest = map(int, found.groups())
        if number > newest:
            return (
                f"A newer DuckDB wrote {path} than {ours}, which is installed here: install that "
                "one, or copy the data into a file of an older version (EXPORT DATABASE there, "
                "IMPORT DATABASE here)."
            )
        return (
            f"DuckDB {_WRITTEN_BY.get(number, 'of that time')} wrote {path}, and {ours} does not "
            "read it. Once, run EXPORT DATABASE 'folder' in it with that version, and IMPORT "
            f"DATABASE 'folder' in a new file with DuckDB {ours}."
        )
    if "Corrupt" in reason or "checksum" in reason:
        return f"{path} is damaged, or was written by a newer DuckDB than {ours}: take a backup."
    return f"Is {path} there, a DuckDB database, and readable for this process?"


def advise_sqlite(path: Path) -> str:
    """What to do where SQLite cannot read the file."""
    folder = path.absolute().parent
    if _is_in_wal_mode(path) and not os.access(folder, os.W_OK, effective_ids=True):
        return (
            f"{path} is in WAL mode, so SQLite writes files beside it, and {folder} cannot be "
            "written by this process. Make the folder writable, or run `PRAGMA journal_mode = "
            "DELETE` on the file once."
        )
    return f"Is {path} there, an SQLite database, and readable for this process?"


def _is_in_wal_mode(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(20)[_WAL_VERSIONS] == b"\2\2"
    except OSError:
        return False
