"""The revision of a DuckDB file's data: a text that differs after every change.

It has the identities, sizes and times of the file and of its write-ahead log. Whoever writes, or
renames, sets ``ctime`` to the present, which no program can choose; but file systems count in steps
of milliseconds, some of seconds. So the revision is empty, that is unknown, until the last change
is a few seconds old: then the next one has another time.

Does not see that a folder of the path was exchanged and put back between two looks, and relies on
a clock that is not set back; on a network file system, also on the same time on both sides.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

# Longer than the coarsest steps in use: two seconds.
SETTLED_S = 3.0


def read_file_revision(path: Path, *, settled_s: float = SETTLED_S) -> str:
    """The revision; empty if the file is missing or was changed in the last ``settled_s``."""
    try:
        found = [os.stat(path), os.lstat(path)]
        log = path.with_name(f"{path.name}.wal")
        if log.exists():
            found.append(os.stat(log))
    except OSError:
        return ""
    if time.time() - max(each.st_ctime for each in found) < settled_s:
        return ""
    return " ".join(
        f"{each.st_dev}.{each.st_ino}.{each.st_size}.{each.st_mtime_ns}.{each.st_ctime_ns}"
        for each in found
    )
