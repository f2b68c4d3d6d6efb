"""Debian's pgbouncer in front of the embedded server, with its default settings."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from execution.postgres.embedded import INDEXER, READER, EmbeddedServer
from tests.ports import choose_port
from tests.waiting import wait_for

MODES = ("session", "transaction", "statement")
_PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or ""
_SETTINGS = """
[databases]
* = host={server} pool_size=2
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {folder}/users.txt
pool_mode = {mode}
"""


@contextmanager
def pooled(server: EmbeddedServer, mode: str) -> Iterator[str]:
    """The host and port of a pooler in that mode, with two connections to each database and role.

    Skips the test where pgbouncer is not installed.
    """
    if not _PROGRAM:
        pytest.skip("pgbouncer is not installed (`apt-get install pgbouncer`)")
    port = choose_port()
    with tempfile.TemporaryDirectory(prefix="pgbouncer-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "users.txt").write_text(f'"{READER}" ""\n"{INDEXER}" ""\n')
        settings = folder / "pgbouncer.ini"
        settings.write_text(
            _SETTINGS.format(server=server.socket_folder, port=port, folder=folder, mode=mode)
        )
        # It does not run as root, but as the user to whom the server's socket belongs.
        owner = pwd.getpwuid(Path(server.socket_folder).stat().st_uid).pw_name
        user = ["-u", owner] if os.geteuid() == 0 else []
        with (folder / "log").open("w") as log:
            process = subprocess.Popen([_PROGRAM, *user, settings], stderr=log)
        try:
            assert wait_for(lambda: _answers(port), 20), (folder / "log").read_text()
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def _answers(port: int) -> bool:
    try:
        psycopg.connect(f"postgresql://{READER}@127.0.0.1:{port}/postgres").close()
    except psycopg.Error:
        return False
    return True


def aim(url: str, address: str) -> str:
    """The URL of the embedded server with the pooler's address instead."""
    return urlsplit(url)._replace(netloc=f"{urlsplit(url).username}@{address}", query="").geturl()
