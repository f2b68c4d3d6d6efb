"""The file behind the database: replaced, locked, missing, under odd names."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from execution.duckdb.database import DuckDbDatabase
from nl2sql.errors import DatabaseUnavailable
from tests.execution.duckdb.shop import LIMITS, ExposedShop, query, run


async def test_a_file_named_like_its_schema_is_read(exposed: ExposedShop, tmp_path: Path) -> None:
    database = DuckDbDatabase(
        "shop", Path(shutil.copy(exposed.path, tmp_path / "staff.duckdb")), LIMITS
    )
    assert (await run(database, "SELECT count(*) FROM staff.employees")).rows == ((3,),)
    await database.close()


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
    assert (await run(database, "SELECT 1")).rows == ((1,),)
    while (started := await asyncio.to_thread(start_writer, path))[1] != "written":
        await asyncio.to_thread(started[0].wait)
    await asyncio.to_thread(started[0].communicate, "\n")
