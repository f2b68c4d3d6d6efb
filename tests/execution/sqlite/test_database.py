"""The read-only database to an SQLite file.

Most queries here are put into a GuardedQuery by hand: the restrictions behind the guard have to
hold without it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from execution.sqlite.database import SqliteDatabase
from execution.sqlite.errors import is_gone
from nl2sql.errors import DatabaseUnavailable
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, Explained, GuardedQuery, ResultSet
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.execution.expecting import expect
from tests.execution.sqlite.shop import LONG, build_shop, read_raw
from tests.golden import load_cases

LIMITS = LimitSettings(statement_timeout_ms=30_000, pool_size=2)
TABLES = ("main.customers", "main.Orders", "main.employees")
_NOBODY = 65534
ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
DUMP = "SELECT name, sql, (SELECT group_concat(total) FROM orders) FROM sqlite_master"


def query(sql: str, *tables: str) -> GuardedQuery:
    return GuardedQuery("shop", sql, tables or TABLES, dialect="sqlite")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shop.sqlite"
    build_shop(path)
    return path


@pytest.fixture
async def database(path: Path) -> AsyncIterator[SqliteDatabase]:
    database = SqliteDatabase("shop", path, LIMITS)
    yield database
    await database.close()


async def run(database: SqliteDatabase, sql: str, max_rows: int = 10) -> ResultSet:
    return expect(ResultSet, await database.execute(query(sql), max_rows))


async def fail(database: SqliteDatabase, sql: str, *tables: str) -> Diagnostic:
    return expect(Diagnostic, await database.execute(query(sql, *tables), 10))


async def test_gives_rows_with_names_and_storage_classes(database: SqliteDatabase) -> None:
    result = await run(database, "SELECT id, name AS Who, note, 1.5, NULL FROM employees")
    assert result.columns == ("id", "Who", "note", "1.5", "NULL")
    assert result.types == ("integer", "text", "integer", "real", "")
    assert result.rows[1] == (2, "Fay", "seven", 1.5, None)
    assert not result.truncated


async def test_a_page_without_end_is_cut(database: SqliteDatabase) -> None:
    result = await run(database, ENDLESS + "SELECT i FROM n", max_rows=3)
    assert (result.rows, result.truncated) == (((1,), (2,), (3,)), True)


async def test_a_long_cell_ends_early_and_is_told(path: Path) -> None:
    database = SqliteDatabase("shop", path, LIMITS.model_copy(update={"cell_bytes": 1024}))
    result = await run(database, f"SELECT 1, {LONG}, CAST({LONG} AS BLOB), 'short'")
    assert result.rows == ((1, "a" * 1024, b"a" * 1024, "short"),)
    assert (result.cut, result.truncated) == (((0, 1), (0, 2)), False)
    await database.close()


async def test_a_row_of_many_long_values_is_an_error(path: Path) -> None:
    database = SqliteDatabase("shop", path, LIMITS.model_copy(update={"result_bytes": 2**20}))
    columns = ", ".join(["b"] * 2000)
    result = await database.execute(query(f"SELECT {columns} FROM (SELECT {LONG} AS b)"), 1)
    assert isinstance(result, Diagnostic)
    assert result.sqlstate == "54000"
    short = await run(database, f"SELECT {columns} FROM (SELECT 'x' AS b)")
    assert short.rows == (("x",) * 2000,)
    await database.close()


@pytest.mark.parametrize(
    ("sql", "sqlstate", "said"),
    [
        # SQLite's full-text and JSON functions quote what they cannot read.
        ("SELECT json_extract('{}', name) FROM customers", "22032", "invalid json text"),
        ("SELECT abs(-9223372036854775808)", "22003", "numeric value out of range"),
        (f"SELECT {LONG} || {LONG}", "54000", "program limit exceeded"),
    ],
)
async def test_no_error_carries_a_cell_to_a_restricted_principal(
    sql: str, sqlstate: str, said: str, database: SqliteDatabase
) -> None:
    result = expect(Diagnostic, await database.execute(replace(query(sql), restricted=True), 10))
    assert result.sqlstate == sqlstate
    assert result.message.startswith(f"{said} (the rest is withheld")


@pytest.mark.parametrize(
    "sql", ["SELECT nope FROM customers", "SELECT 1 FROM nope", "SELEC 1", "SELECT nope(1)"]
)
async def test_what_a_query_names_itself_is_told_to_all(sql: str, database: SqliteDatabase) -> None:
    restricted = replace(query(sql), restricted=True)
    open_ = await fail(database, sql)
    assert "withheld" not in open_.message
    assert await database.execute(restricted, 10) == open_
    assert await database.explain(restricted) == await database.explain(query(sql))


async def test_bytes_that_are_no_text_are_marked_and_nothing_is_left_out(
    path: Path, database: SqliteDatabase
) -> None:
    """Whoever wrote the file may have used another encoding, such as Latin-1."""
    names = (b"C\xf4te d'Ivoire", b"\xc5land", b"\xff\xfe", b"a\x00b", "Türkiye".encode())
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM customers")
        connection.executemany(
            "INSERT INTO customers (id, name) VALUES (?, CAST(? AS TEXT))", list(enumerate(names))
        )
    result = await run(database, "SELECT name FROM customers ORDER BY id")
    assert [name for (name,) in result.rows] == [
        *("C\ufffdte d'Ivoire", "\ufffdland", "\ufffd\ufffd", "a\0b", "Türkiye")
    ]


@pytest.fixture
def wal_file() -> Iterator[Path]:
    """One in a folder that this process cannot write; root becomes somebody else meanwhile."""
    folder, user = Path(tempfile.mkdtemp()), os.geteuid()
    path = folder / "app.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE t (id INTEGER)")
    folder.chmod(0o555)
    if user == 0:
        os.seteuid(_NOBODY)
    yield path
    os.seteuid(user)
    folder.chmod(0o755)
    shutil.rmtree(folder)


async def test_a_file_in_wal_mode_in_a_folder_that_cannot_be_written(wal_file: Path) -> None:
    """SQLite would have to write beside it; as `immutable` it would show what is not yet there."""
    database = SqliteDatabase("shop", wal_file, LIMITS)
    with pytest.raises(DatabaseUnavailable) as asked:
        await database.execute(query("SELECT id FROM main.t", "main.t"), 1)
    problem = await database.probe()
    await database.close()
    with pytest.raises(DatabaseUnavailable) as indexed:
        read_sqlite_catalog(wal_file, database="shop")
    for said in (asked.value.hint, problem, indexed.value.hint):
        assert f"is in WAL mode, so SQLite writes files beside it, and {wal_file.parent}" in said


async def test_explains_by_counting_scans(database: SqliteDatabase) -> None:
    for sql, scans in (
        ("SELECT 1", 0),
        ("SELECT name FROM customers WHERE id = 1", 0),
        ("SELECT name FROM customers", 1),
        ("SELECT c.name FROM customers AS c CROSS JOIN employees AS e", 2),
    ):
        assert await database.explain(query(sql)) == Explained(cost=float(scans), rows=0.0)


@pytest.mark.parametrize(
    ("sqlstate", "sql"),
    [
        *load_cases("errors_sqlite"),
        ("42601", "SELECT 'a\0'"),
        ("54001", f"SELECT 1{' + 1' * 3000}"),
        ("54001", f"SELECT 1{' UNION ALL SELECT 1' * 60}"),
    ],
)
async def test_an_error_is_a_value_with_the_sqlstate_of_postgresql(
    sqlstate: str, sql: str, database: SqliteDatabase
) -> None:
    assert (await fail(database, sql)).sqlstate == sqlstate
    if sqlstate not in ("22003", "22032", "54000"):
        assert expect(Diagnostic, await database.explain(query(sql))).sqlstate == sqlstate


@pytest.mark.parametrize("sql", [sql for _, sql in load_cases("restrictions_sqlite")])
async def test_nothing_can_be_written_or_read_besides_even_without_the_guard(
    sql: str, path: Path, database: SqliteDatabase
) -> None:
    before = read_raw(path, DUMP)
    assert (await fail(database, sql)).sqlstate == "42501"
    assert read_raw(path, DUMP) == before


async def test_only_the_tables_of_the_query_are_read(database: SqliteDatabase) -> None:
    assert (await fail(database, "SELECT id FROM orders", "main.customers")).sqlstate == "42501"
    assert (await fail(database, "SELECT * FROM totals", "main.Orders")).sqlstate == "42501"


async def test_a_view_may_read_and_call_what_a_query_may_not(
    path: Path, database: SqliteDatabase
) -> None:
    result = await database.execute(query("SELECT shown FROM totals", "main.totals"), 10)
    assert expect(ResultSet, result).rows[0] == ("30.50",)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE VIEW broken AS SELECT x FROM gone")
    assert (await fail(database, "SELECT * FROM broken", "main.broken")).sqlstate == "42P01"


@pytest.mark.parametrize(
    ("code", "gone"),
    [
        (sqlite3.SQLITE_READONLY_DIRECTORY, True),
        (sqlite3.SQLITE_CANTOPEN_ISDIR, True),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, True),
        (sqlite3.SQLITE_ERROR, False),
        (sqlite3.SQLITE_INTERRUPT, False),
        (sqlite3.SQLITE_TOOBIG, False),
    ],
)
def test_a_file_at_fault_is_told_from_a_query_at_fault(code: int, gone: bool) -> None:
    error = sqlite3.OperationalError("whatever it says")
    error.sqlite_errorcode = code
    assert is_gone(error) is gone
