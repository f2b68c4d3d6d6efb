"""Samples the values of an SQLite file for key inference."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from retrieval.introspection.database_files import open_sqlite_file
from retrieval.introspection.key_samples import TIMEOUT_S, SqlSampler, build_unavailable

_INSTRUCTIONS_PER_CHECK = 50_000


@contextmanager
def open_sqlite_sampler(path: Path, *, database: str) -> Iterator[SqlSampler]:
    """A sampler of the file, opened read-only. Raises DatabaseUnavailable."""
    try:
        connection = open_sqlite_file(path)
    except sqlite3.Error as error:
        raise build_unavailable(database, error) from error

    def run(query: str) -> tuple[Any, ...] | None:
        deadline = time.monotonic() + TIMEOUT_S
        connection.set_progress_handler(
            lambda: time.monotonic() > deadline, _INSTRUCTIONS_PER_CHECK
        )
        try:
            row: tuple[Any, ...] | None = connection.execute(query).fetchone()
        except sqlite3.Error:
            return None
        return row

    with closing(connection):
        yield SqlSampler(run)
