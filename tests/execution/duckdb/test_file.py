"""The file behind the database: replaced, locked, missing, under odd names."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.executor import ReadOnlyExecutor
from nl2sql.errors import DatabaseUnavailable
from nl2sql.types import Diagnostic, ResultSet
from tests.execution.duckdb.shop import LIMITS, Besieged, query, run, write


@pytest.fixture
def read_only(path: Path) -> Iterator[Path]:
    path.chmod(0o444)
    path.parent.chmod(0o555)
    yield path
    path.parent.chmod(0o755)


@pytest.mark.parametrize("name", ["100%41.db", "a?mode=rw.db", "a#b.db", "ü b.db", "a:b;c'd\"e.db"])
async def test_a_path_is_a_path_whatever_its_signs(
    name: str, besieged: Besieged, tmp_path: Path
) -> None:
    database = DuckDbDatabase("shop", Path(shutil.copy(besieged.path, tmp_path / name)), LIMITS)
    assert (await run(database, "SELECT count(*) FROM main.customers")).rows == ((4,),)
    await database.close()
    missing = DuckDbDatabase("shop", tmp_path / f"no{name}", LIMITS)
    assert await missing.probe()
    await missing.close()
    assert os.listdir(tmp_path) == [name]


async def test_a_file_named_like_its_schema_is_read(besieged: Besieged, tmp_path: Path) -> None:
    database = DuckDbDatabase(
        "shop", Path(shutil.copy(besieged.path, tmp_path / "staff.duckdb")), LIMITS
    )
    assert (await run(database, "SELECT count(*) FROM staff.employees")).rows == ((3,),)
    await database.close()


async def test_a_file_in_a_folder_that_cannot_be_written(read_only: Path) -> None:
    database = DuckDbDatabase("shop", read_only, LIMITS)
    assert (await run(database, "SELECT count(*) FROM main.customers")).rows == ((4,),)
    assert await database.probe() == ""
    await database.close()


async def test_a_file_that_was_replaced_is_seen(path: Path, database: DuckDbDatabase) -> None:
    await run(database, "SELECT 1 FROM main.customers")
    other = path.with_name("new.duckdb")
    write(other, "CREATE TABLE customers (x INT); INSERT INTO customers VALUES (9)")
    other.replace(path)
    assert (await run(database, "SELECT x FROM main.customers")).rows == ((9,),)
    os.remove(path)
    with pytest.raises(DatabaseUnavailable):
        await database.execute(query("SELECT 1"), 1)


WRITER = """
import duckdb, json, sys
try:
    connection = duckdb.connect(sys.argv[1])
    connection.execute("INSERT INTO returns VALUES (2, 1)")
    print(json.dumps("written"), flush=True)
    sys.stdin.readline()
except duckdb.IOException as error:
    print(json.dumps(str(error)), flush=True)
"""


def start_writer(path: Path) -> tuple[subprocess.Popen[str], str]:
    """Another process that writes the file and keeps it open; what it says of it."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, str(json.loads(process.stdout.readline()))


async def test_a_file_that_somebody_writes_is_unavailable_until_then(
    path: Path, database: DuckDbDatabase
) -> None:
    process, said = await asyncio.to_thread(start_writer, path)
    assert said == "written"
    with pytest.raises(DatabaseUnavailable, match="lock") as caught:
        await database.execute(query("SELECT 1"), 1)
    assert "one writer or many readers" in caught.value.hint
    assert "shop" in await database.probe()
    await asyncio.to_thread(process.communicate, "\n")
    result = await run(database, "SELECT count(*) FROM main.returns", 1, "main.returns")
    assert result.rows == ((2,),)


async def test_a_file_that_nobody_asks_is_given_free(path: Path, database: DuckDbDatabase) -> None:
    await run(database, "SELECT 1")
    process, said = await asyncio.to_thread(start_writer, path)
    assert "lock" in said
    await asyncio.to_thread(process.wait)
    await asyncio.sleep(2.5)
    process, said = await asyncio.to_thread(start_writer, path)
    assert said == "written"
    await asyncio.to_thread(process.communicate, "\n")


async def test_what_is_no_database_is_unavailable(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no database at all, " * 1000)
    for path in (tmp_path / "missing.duckdb", text, tmp_path):
        database = DuckDbDatabase("shop", path, LIMITS)
        with pytest.raises(DatabaseUnavailable, match="cannot be read"):
            await database.execute(query("SELECT 1"), 1)
        with pytest.raises(DatabaseUnavailable) as caught:
            await database.explain(query("SELECT 1"))
        assert "DuckDB" in caught.value.hint
        assert "shop" in await database.probe()
        await database.close()
    assert not (tmp_path / "missing.duckdb").exists()


async def test_what_does_not_fit_into_memory_spills_nowhere(
    path: Path, database: DuckDbDatabase
) -> None:
    before = {*os.listdir(), *os.listdir(path.parent)}
    sql = "SELECT repeat(i::TEXT, 200) AS t FROM range(2000000) AS r (i) ORDER BY hamming(t, t), t"
    found = await database.execute(
        query(f"SELECT count(*) FROM (SELECT t, row_number() OVER (ORDER BY t) FROM ({sql}))"), 1
    )
    assert isinstance(found, Diagnostic)
    assert found.sqlstate in ("53200", "57014")
    assert {*os.listdir(), *os.listdir(path.parent)} == before


async def test_the_executor_takes_it_like_any_database(database: DuckDbDatabase) -> None:
    executor = ReadOnlyExecutor({"shop": database})
    result = await executor.execute(query("SELECT count(*) FROM main.customers"), 1)
    assert isinstance(result, ResultSet)
    assert result.rows == ((4,),)
    assert await executor.probe() == (("database shop", ""),)
    await executor.close()
