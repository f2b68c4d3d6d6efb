"""Reading the schema of an SQLite file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from nl2sql.catalog import Catalog, Column, ForeignKey
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.execution.sqlite.shop import build_shop


def read(path: Path, script: str) -> Catalog:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return read_sqlite_catalog(path, database="odd")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "odd.sqlite"


@pytest.fixture
def shop(path: Path) -> Catalog:
    return build_shop(path)


def test_reads_tables_and_views_of_main_in_order(shop: Catalog) -> None:
    assert (shop.dialect, shop.search_path, shop.database) == ("sqlite", ("main",), "shop")
    assert [(table.qualified, table.kind) for table in shop.tables] == [
        ("main.Orders", "table"),
        ("main.customers", "table"),
        ("main.employees", "table"),
        ("main.group", "table"),
        ("main.order_lines", "table"),
        ("main.returns", "table"),
        ("main.totals", "view"),
    ]


def test_reads_columns_as_they_were_declared(shop: Catalog) -> None:
    customers = shop.table("main.customers")
    assert customers is not None
    assert customers.columns == (
        Column("id", "INTEGER"),
        Column("Name", "TEXT", nullable=False),
        Column("country", "TEXT"),
        Column("Loyalty Tier", "VARCHAR(10)"),
        Column("joined", "DATE"),
    )
    employees = shop.table("main.employees")
    assert employees is not None
    assert employees.columns[-1] == Column("note", "")


def test_reads_generated_columns_and_primary_keys_in_their_order(shop: Catalog) -> None:
    lines = shop.table("main.order_lines")
    assert lines is not None
    assert lines.column("double_quantity") is not None
    assert lines.primary_key == ("line_no", "order_id")


def test_reads_foreign_keys_in_the_spelling_of_the_tables(shop: Catalog) -> None:
    assert set(shop.foreign_keys) == {
        ForeignKey("Orders_0", "main.Orders", ("seller_id",), "main.employees", ("id",)),
        # No columns were named: the target's primary key is meant.
        ForeignKey("Orders_1", "main.Orders", ("customer_id",), "main.customers", ("id",)),
        ForeignKey("employees_0", "main.employees", ("manager_id",), "main.employees", ("id",)),
        ForeignKey("order_lines_0", "main.order_lines", ("order_id",), "main.Orders", ("id",)),
        ForeignKey(
            "returns_0",
            "main.returns",
            ("line_no", "order_id"),
            "main.order_lines",
            ("line_no", "order_id"),
        ),
    }


@pytest.mark.parametrize(
    "script",
    [
        "CREATE TABLE a (x INT REFERENCES gone (id))",
        "CREATE TABLE a (x INT REFERENCES b (gone)); CREATE TABLE b (id INT)",
        "CREATE TABLE a (x INT REFERENCES b); CREATE TABLE b (id INT)",
        "CREATE TABLE a (x INT REFERENCES b); CREATE TABLE b (i, j, PRIMARY KEY (i, j))",
    ],
    ids=["no_table", "no_column", "no_primary_key", "another_number_of_columns"],
)
def test_a_foreign_key_to_nowhere_is_left_out(script: str, path: Path) -> None:
    assert read(path, script).foreign_keys == ()


def test_leaves_out_what_is_not_the_users(path: Path) -> None:
    catalog = read(
        path,
        "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT);"
        "CREATE TABLE sqlitecousin (id INT);"
        "CREATE VIRTUAL TABLE words USING fts5(text);"
        "CREATE TABLE b (id INT); CREATE INDEX i ON b (id); ANALYZE",
    )
    assert [table.name for table in catalog.tables] == ["a", "b", "sqlitecousin"]


def test_a_view_that_no_longer_works_is_left_out(path: Path) -> None:
    catalog = read(path, "CREATE TABLE a (x); CREATE VIEW v AS SELECT x FROM gone")
    assert [table.name for table in catalog.tables] == ["a"]
