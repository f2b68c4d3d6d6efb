"""What reading a schema does alike for SQLite and DuckDB files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from nl2sql.catalog import Catalog, Column
from nl2sql.errors import DatabaseUnavailable
from retrieval.introspection.duckdb_file import open_duckdb_file, read_duckdb_catalog
from retrieval.introspection.sqlite_file import open_sqlite_file, read_sqlite_catalog
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.sqlite import shop as sqlite_shop


@dataclass(frozen=True)
class Kind:
    """One kind of file: its shop, how its schema and its values are read, and what is in it."""

    name: str
    write: Callable[[Path, str], object]
    build_shop: Callable[[Path], Catalog]
    read: Callable[..., Catalog]
    open: Callable[[Path], Any]
    error: type[Exception]
    hint: str
    tables: dict[str, tuple[Column, ...]]
    keys: set[tuple[str, tuple[str, ...], str, tuple[str, ...]]]


KEYS = {
    ("main.order_lines", ("order_id",), "main.Orders", ("id",)),
    ("main.returns", ("line_no", "order_id"), "main.order_lines", ("line_no", "order_id")),
    # In SQLite no columns were named: the target's primary key is meant.
    ("main.Orders", ("customer_id",), "main.customers", ("id",)),
}
KINDS = (
    Kind(
        "sqlite",
        sqlite_shop.write,
        sqlite_shop.build_shop,
        read_sqlite_catalog,
        open_sqlite_file,
        sqlite3.OperationalError,
        "",
        {
            "main.customers": (
                Column("id", "INTEGER"),
                Column("Name", "TEXT", nullable=False),
                Column("country", "TEXT"),
                Column("Loyalty Tier", "VARCHAR(10)"),
                Column("joined", "DATE"),
            )
        },
        {
            *KEYS,
            ("main.Orders", ("seller_id",), "main.employees", ("id",)),
            ("main.employees", ("manager_id",), "main.employees", ("id",)),
        },
    ),
    Kind(
        "duckdb",
        duckdb_shop.write,
        duckdb_shop.build_shop,
        read_duckdb_catalog,
        open_duckdb_file,
        duckdb.Error,
        "DuckDB",
        {
            "main.customers": (
                Column("id", "INTEGER", nullable=False),
                Column("Name", "VARCHAR", nullable=False),
                Column("country", "VARCHAR", comment="As they wrote it themselves"),
                Column("Loyalty Tier", "ENUM('bronze', 'silver', 'gold')"),
                Column("joined", "DATE"),
                Column("tags", "VARCHAR[]"),
            )
        },
        KEYS,
    ),
)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind of file in turn."""
    found: Kind = request.param
    return found


@pytest.fixture
def path(kind: Kind, tmp_path: Path) -> Path:
    return tmp_path / f"it's odd.{kind.name}"


def test_columns_are_read_as_declared_and_keys_in_the_spelling_of_the_tables(
    kind: Kind, path: Path
) -> None:
    catalog = kind.build_shop(path)
    tables = {table.qualified: table for table in catalog.tables}
    assert {name: tables[name].columns for name in kind.tables} == kind.tables
    keys = catalog.foreign_keys
    assert {(key.table, key.columns, key.target, key.target_columns) for key in keys} == kind.keys


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
        assert not {"\n", "{"} & set(caught.value.message)
        assert kind.hint in caught.value.hint
    assert not path.exists()


def test_values_are_read_and_nothing_is_written_or_reached(
    kind: Kind, path: Path, tmp_path: Path
) -> None:
    kind.write(path, "CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('x')")
    (tmp_path / "other.txt").write_text("secret")
    with closing(kind.open(path)) as connection:
        assert connection.execute("SELECT a FROM t").fetchall() == [("x",)]
        for statement in (
            "INSERT INTO t VALUES ('y')",
            "CREATE TABLE u (a TEXT)",
            f"SELECT * FROM read_text('{tmp_path}/other.txt')",
            "SET enable_external_access = true",
        ):
            with pytest.raises(kind.error):
                connection.execute(statement)
