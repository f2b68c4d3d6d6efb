"""The revision of a DuckDB file: everything that changes rows changes it."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import duckdb
import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.duckdb.revision import read_file_revision
from nl2sql.settings import LimitSettings

LIMITS = LimitSettings(pool_size=1, duckdb_memory_mib=128)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    write(path, "CREATE TABLE t (a INT); INSERT INTO t VALUES (1)")
    return path


def write(path: Path, script: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute(script)
    # Two changes in one step of the file system's clock would be one.
    time.sleep(0.02)


def read(path: Path) -> str:
    return read_file_revision(path, settled_s=0.0)


def test_it_stays_while_nothing_is_written(path: Path) -> None:
    before = read(path)
    with duckdb.connect(str(path), read_only=True) as other:
        other.execute("SELECT * FROM t").fetchall()
    assert before
    assert read(path) == before


def test_a_change_is_too_young_at_first(path: Path) -> None:
    assert read_file_revision(path, settled_s=3600.0) == ""
    # A time of the file's own does not make it older.
    os.utime(path, (0, 0))
    assert read_file_revision(path, settled_s=3600.0) == ""


def test_every_change_changes_it(path: Path) -> None:
    seen = [read(path)]
    for change in ("UPDATE t SET a = 2", "UPDATE t SET a = 1", "DROP TABLE t"):
        found = path.stat()
        write(path, change)
        os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
        seen.append(read(path))
    assert "" not in seen
    assert len(set(seen)) == len(seen)


def test_the_log_belongs_to_it(path: Path) -> None:
    before = read(path)
    log = path.with_name(f"{path.name}.wal")
    log.write_bytes(b"x")
    assert read(path) != before


def test_another_file_has_another_revision_and_so_has_the_first_again(path: Path) -> None:
    aside, copy = path.with_name("aside"), path.with_name("copy")
    shutil.copy2(path, copy)
    time.sleep(0.02)
    seen = [read(path)]
    for first, second in (((path, aside), (copy, path)), ((path, copy), (aside, path))):
        for source, target in (first, second):
            source.rename(target)
        time.sleep(0.02)
        seen.append(read(path))
    assert len(set(seen)) == 3
    path.rename(aside)
    assert read(path) == ""


@pytest.mark.parametrize(
    ("script", "is_known"),
    [
        ("CREATE VIEW v AS SELECT a FROM t", True),
        ("CREATE TABLE u (a INT, b DOUBLE GENERATED ALWAYS AS (random()))", False),
        ("CREATE MACRO upper(x) AS random()", False),
    ],
)
async def test_a_file_that_computes_has_none(path: Path, script: str, is_known: bool) -> None:
    write(path, script)
    database = DuckDbDatabase("shop", path, LIMITS, settled_s=0.0)
    assert bool(await database.revision()) == is_known
    assert bool(await database.revision()) == is_known
    await database.close()
