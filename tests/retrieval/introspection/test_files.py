"""What reading a schema does alike for SQLite and DuckDB files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from nl2sql.catalog import Catalog
from nl2sql.errors import DatabaseUnavailable
from retrieval.introspection.duckdb_file import (
    describe_duckdb_error,
    open_duckdb_file,
    read_duckdb_catalog,
)
from retrieval.introspection.sqlite_file import open_sqlite_file, read_sqlite_catalog
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.sqlite import shop as sqlite_shop


@dataclass(frozen=True)
class Kind:
    """One kind of file: how it is written, how its shop is built, how its schema is read."""

    name: str
    write: Callable[[Path, str], object]
    build_shop: Callable[[Path], Catalog]
    read: Callable[..., Catalog]
    hint: str


def write_sqlite(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


KINDS = (
    Kind("sqlite", write_sqlite, sqlite_shop.build_shop, read_sqlite_catalog, ""),
    Kind("duckdb", duckdb_shop.write, duckdb_shop.build_shop, read_duckdb_catalog, "DuckDB"),
)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind of file in turn."""
    found: Kind = request.param
    return found


@pytest.fixture
def path(kind: Kind, tmp_path: Path) -> Path:
    return tmp_path / f"odd.{kind.name}"


def test_the_file_is_not_touched(kind: Kind, path: Path) -> None:
    kind.build_shop(path)
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    kind.read(path, database="shop")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_is_no_database_is_unavailable(kind: Kind, path: Path, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("no database at all, " * 1000)
    for wrong in (path, text, tmp_path):
        with pytest.raises(DatabaseUnavailable, match="Cannot read the schema") as caught:
            kind.read(wrong, database="odd")
        assert "\n" not in caught.value.message
        assert kind.hint in caught.value.hint
    assert not path.exists()


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
