"""The embedded server: loading, roles, and coming back."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import psycopg
import pytest

from execution.postgres.embedded import INDEXER, READER, EmbeddedServer, build_failure


@dataclass(frozen=True)
class Rows:
    table: str
    columns: Sequence[str]
    rows: Iterable[Sequence[object]]


SCHEMA = "CREATE SCHEMA s; CREATE TABLE s.t (id int PRIMARY KEY, note text)"


def load(server: EmbeddedServer, version: str, *notes: str) -> bool:
    rows = Rows("s.t", ("id", "note"), list(enumerate(notes)))
    return server.load("loaded", SCHEMA, [rows], version=version)


def read(server: EmbeddedServer, role: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(server.url("loaded", role), autocommit=True) as connection:
        return connection.execute(statement.encode()).fetchall()


def test_loads_once_and_again_when_the_version_is_another(embedded_server: EmbeddedServer) -> None:
    embedded_server.drop_database("loaded")
    assert load(embedded_server, "1", "a", "b")
    assert not load(embedded_server, "1", "never loaded")
    assert read(embedded_server, READER, "SELECT note FROM s.t ORDER BY id") == [("a",), ("b",)]
    assert load(embedded_server, "2", "c")
    assert read(embedded_server, READER, "SELECT note FROM s.t") == [("c",)]


def test_what_fails_to_load_leaves_nothing_behind(embedded_server: EmbeddedServer) -> None:
    embedded_server.drop_database("loaded")
    wrong = Rows("s.t", ("id", "note"), [(1, "a"), (1, "the same key")])
    with pytest.raises(psycopg.errors.UniqueViolation):
        embedded_server.load("loaded", SCHEMA, [wrong], version="1")
    assert load(embedded_server, "1", "a")


@pytest.mark.parametrize("role", [READER, INDEXER])
def test_neither_role_owns_or_writes(embedded_server: EmbeddedServer, role: str) -> None:
    load(embedded_server, "roles", "a")
    rights = "SELECT rolsuper, rolcreatedb, rolcreaterole, rolbypassrls FROM pg_roles"
    (row,) = read(embedded_server, role, f"{rights} WHERE rolname = current_user")
    assert not any(row)
    for statement in (
        "INSERT INTO s.t VALUES (9, 'x')",
        "DROP TABLE s.t",
        "CREATE TABLE s.u (a int)",
        "CREATE TABLE public.u (a int)",
    ):
        with pytest.raises(psycopg.Error):
            read(embedded_server, role, statement)
    if role == INDEXER:
        # It sees names and no rows.
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            read(embedded_server, role, "SELECT * FROM s.t")


def test_a_server_that_died_comes_back_where_it_was(embedded_server: EmbeddedServer) -> None:
    url = embedded_server.url("loaded", READER)
    load(embedded_server, "killed", "still here")
    postmaster = int((embedded_server.folder / "postmaster.pid").read_text().splitlines()[0])
    process = psutil.Process(postmaster)
    process.kill()
    psutil.wait_procs([process], timeout=60)
    embedded_server.ensure_running()
    assert embedded_server.url("loaded", READER) == url
    assert read(embedded_server, READER, "SELECT note FROM s.t") == [("still here",)]


# -- its users -------------------------------------------------------------------------------------

_USE = """
import sys
from pathlib import Path
from execution.postgres.embedded import EmbeddedServer
EmbeddedServer(Path(sys.argv[1])).start()
print("started", flush=True)
sys.stdin.readline()
"""


class User:
    """A process that uses the server of a folder."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _USE, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "started\n"

    def leave(self) -> None:
        """Ends as processes do."""
        self._process.communicate("\n", timeout=60)

    def kill(self) -> None:
        """Ends without any clean-up."""
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate(timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "postgres"
    yield folder
    if process := find_postmaster(folder):
        process.kill()


def find_postmaster(folder: Path) -> psutil.Process | None:
    """The server of the folder, if it runs."""
    try:
        lines = (folder / "postmaster.pid").read_text().splitlines()
        process = psutil.Process(int(lines[0]))
        return process if process.status() != psutil.STATUS_ZOMBIE else None
    except (OSError, psutil.NoSuchProcess):
        return None


def test_what_a_killed_user_left_running_is_stopped(folder: Path) -> None:
    server = EmbeddedServer(folder)
    assert not server.stop_if_unused()  # there is none
    killed, other = User(folder), User(folder)
    killed.kill()
    assert not server.stop_if_unused()  # somebody uses it
    assert find_postmaster(folder) is not None
    other.kill()
    assert server.stop_if_unused()
    assert find_postmaster(folder) is None
    assert not server.stop_if_unused()
    # It starts again, and stops as ever.
    User(folder).leave()
    assert find_postmaster(folder) is None


def test_a_full_disk_is_told_whatever_broke_first(tmp_path: Path) -> None:
    error = RuntimeError("initdb returned 1")
    full = build_failure(tmp_path / "pg", "does not start", error, free_bytes=7_000_000)
    assert "does not start: its disk is full (7 MB are free)" in full.message
    assert "Free some space" in full.hint
    other = build_failure(tmp_path / "pg", "does not start", error, free_bytes=10**9)
    assert other.message.endswith("does not start: initdb returned 1")
    assert other.hint == ""
