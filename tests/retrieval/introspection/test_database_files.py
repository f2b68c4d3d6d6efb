"""Files are opened for reading only, and a DuckDB instance reaches nothing else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from retrieval.introspection.duckdb_file import describe_duckdb_error, open_duckdb_file
from retrieval.introspection.sqlite_file import open_sqlite_file


@pytest.fixture
def sqlite(tmp_path: Path) -> Path:
    path = tmp_path / "it's.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (a)")
        connection.execute("INSERT INTO t VALUES ('x'), (CAST(X'ff41' AS TEXT))")
    return path


@pytest.fixture
def duck(tmp_path: Path) -> Path:
    path = tmp_path / "it's.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 'x' AS a")
    return path


def test_sqlite_is_read_and_not_written(sqlite: Path) -> None:
    with closing(open_sqlite_file(sqlite)) as connection:
        assert connection.execute("SELECT a FROM t").fetchall() == [("x",), ("\ufffdA",)]
        for statement in ("INSERT INTO t VALUES (1)", "CREATE TABLE u (a)"):
            with pytest.raises(sqlite3.OperationalError, match="readonly"):
                connection.execute(statement)


def test_duckdb_is_read_and_nothing_else_is_reached(duck: Path, sqlite: Path) -> None:
    with open_duckdb_file(duck, memory="100MB") as connection:
        assert connection.execute("SELECT a FROM main.t").fetchall() == [("x",)]
        for statement in (
            "INSERT INTO t VALUES ('y')",
            f"SELECT * FROM read_text('{sqlite.with_name('other.txt')}')",
            "SET enable_external_access = true",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(statement)


def test_what_is_no_database_is_an_error_of_the_driver(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError):
        open_sqlite_file(tmp_path / "none.sqlite")
    text = tmp_path / "text.duckdb"
    text.write_text("no database")
    with pytest.raises(duckdb.Error) as caught:
        open_duckdb_file(text)
    assert "\n" not in describe_duckdb_error(caught.value)
    assert "{" not in describe_duckdb_error(caught.value)
