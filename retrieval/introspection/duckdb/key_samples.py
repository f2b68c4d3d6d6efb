"""Samples the values of a DuckDB file for key inference."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Timer
from typing import Any

import duckdb

from retrieval.introspection.database_files import open_duckdb_file
from retrieval.introspection.key_samples import TIMEOUT_S, SqlSampler, build_unavailable


@contextmanager
def open_duckdb_sampler(path: Path, *, database: str) -> Iterator[SqlSampler]:
    """A sampler of the file, opened read-only. Raises DatabaseUnavailable."""
    try:
        connection = open_duckdb_file(path)
    except duckdb.Error as error:
        raise build_unavailable(database, error) from error

    def run(query: str) -> tuple[Any, ...] | None:
        alarm = Timer(TIMEOUT_S, connection.interrupt)
        alarm.start()
        try:
            row: tuple[Any, ...] | None = connection.execute(query).fetchone()
        except duckdb.Error:
            return None
        finally:
            alarm.cancel()
        return row

    with closing(connection):
        yield SqlSampler(run)
