"""The revision of an SQLite file: everything that changes rows changes it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from execution.sqlite.database import SqliteDatabase
from execution.sqlite.revision import FileRevisions
from nl2sql.settings import LimitSettings
from tests.execution.sqlite.shop import write

LIMITS = LimitSettings(pool_size=2)
INSERT = "INSERT INTO t VALUES (1)"


@pytest.fixture(params=["delete", "wal"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    write(path, f"PRAGMA journal_mode = {request.param}; CREATE TABLE t (a INT); {INSERT}")
    return path


@pytest.fixture
async def database(path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase("shop", path, LIMITS)
    yield database
    await database.close()


def write_elsewhere(path: Path) -> None:
    """A row, from another process."""
    program = f"import sqlite3\nwith sqlite3.connect({str(path)!r}) as c: c.execute({INSERT!r})"
    subprocess.run([sys.executable, "-c", program], check=True)


async def test_it_stays_while_nothing_is_written(database: SqliteDatabase, path: Path) -> None:
    before = await database.revision()
    with closing(sqlite3.connect(path)) as other:
        other.execute("SELECT * FROM t").fetchall()
    assert before
    assert await database.revision() == before


async def test_every_commit_changes_it(database: SqliteDatabase, path: Path) -> None:
    seen = [await database.revision()]
    for change in (INSERT, INSERT, "DELETE FROM t", "CREATE TABLE u (b)"):
        write(path, change)
        seen.append(await database.revision())
    write_elsewhere(path)
    seen.append(await database.revision())
    with closing(sqlite3.connect(path)) as writer:
        for _ in range(3):
            writer.execute(INSERT)
            writer.commit()
            seen.append(await database.revision())
    assert "" not in seen
    assert len(set(seen)) == len(seen)


async def test_what_is_not_committed_does_not(database: SqliteDatabase, path: Path) -> None:
    before = await database.revision()
    with closing(sqlite3.connect(path)) as writer:
        writer.execute(INSERT)
        assert await database.revision() == before
        writer.rollback()
    assert await database.revision() == before


async def test_the_same_time_and_size_do_not_hide_a_change(
    database: SqliteDatabase, path: Path
) -> None:
    before, found = await database.revision(), os.stat(path)
    write(path, "UPDATE t SET a = 2")
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert await database.revision() not in ("", before)


def test_another_file_has_another_revision_and_so_has_the_first_again(path: Path) -> None:
    revisions = FileRevisions(path)
    aside, copy = path.with_name("aside"), path.with_name("copy")
    shutil.copy(path, copy)
    seen = [revisions.read()]
    path.rename(aside)
    copy.rename(path)
    seen.append(revisions.read())
    path.rename(copy)
    aside.rename(path)
    seen.append(revisions.read())
    path.rename(aside)
    path.symlink_to(aside)
    seen.append(revisions.read())
    assert "" not in seen
    assert len(set(seen)) == len(seen)
    path.unlink()
    assert revisions.read() == ""
    revisions.close()


async def test_it_is_unknown_while_a_writer_has_the_file(
    database: SqliteDatabase, path: Path
) -> None:
    before = await database.revision()
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        if writer.execute("PRAGMA journal_mode").fetchone() == ("delete",):
            writer.execute("BEGIN EXCLUSIVE")
            assert await database.revision() == ""
            writer.execute("ROLLBACK")
    assert await database.revision() == before
