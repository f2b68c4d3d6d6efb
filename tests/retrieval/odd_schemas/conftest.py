"""An embedded PostgreSQL without the demo, on which each odd schema has a database of its own."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from execution.postgres.embedded import EmbeddedServer


@pytest.fixture(scope="package")
def odd_server() -> Iterator[EmbeddedServer]:
    """The running server, in a short path: a UNIX socket's path has at most 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="quorumsql-odd-"))
    server = EmbeddedServer(folder / "postgres")
    server.start()
    with psycopg.connect(server.url("postgres", "postgres"), autocommit=True) as connection:
        # DROP DATABASE and the end write everything to the disk, which nobody needs here.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("SELECT pg_reload_conf()")
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)
