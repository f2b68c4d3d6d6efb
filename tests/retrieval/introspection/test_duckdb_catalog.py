"""Reading the schema of a DuckDB file."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from nl2sql.catalog import Catalog, Column, Table
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from tests.execution.duckdb.shop import build_shop, write
from tests.golden import load_changes


def read(path: Path, script: str) -> Catalog:
    write(path, script)
    return read_duckdb_catalog(path, database="odd")


def find(catalog: Catalog, name: str) -> Table:
    table = catalog.table(name)
    assert table is not None
    return table


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "odd.duckdb"


def test_a_view_has_the_columns_and_the_comment_that_it_has_now(path: Path) -> None:
    catalog = read(
        path,
        "CREATE TABLE a (x INT); CREATE VIEW v AS SELECT * FROM a;"
        "COMMENT ON COLUMN v.x IS 'the first'; ALTER TABLE a ADD COLUMN y DATE",
    )
    assert find(catalog, "main.v").columns == (
        Column("x", "INTEGER", comment="the first"),
        Column("y", "DATE"),
    )


@pytest.mark.parametrize(("view", "definition"), load_changes("duckdb_views"))
def test_a_views_query_has_its_tables_under_their_schemas(
    view: str, definition: str, path: Path
) -> None:
    catalog = read(
        path, f"CREATE SCHEMA s; CREATE TABLE a (x INT); CREATE TABLE s.c (x INT); {view}"
    )
    (found,) = (table for table in catalog.tables if table.kind == "view")
    # What is no table of the file leaves it unknown.
    assert found.definition == ("" if definition == view else definition)
    if found.definition:
        with duckdb.connect(path) as connection:
            connection.execute("INSERT INTO a VALUES (1); INSERT INTO s.c VALUES (1)")
            name = found.name.replace('"', '""')
            assert (
                connection.execute(definition).fetchall()
                == connection.execute(f'SELECT * FROM "{name}"').fetchall()
            )


def test_a_view_looks_into_its_own_schema_first(path: Path) -> None:
    catalog = read(
        path,
        "CREATE SCHEMA s; CREATE TABLE t (w INT); CREATE TABLE s.t (w INT); CREATE TABLE u (w INT);"
        "CREATE VIEW s.own AS SELECT w FROM t; CREATE VIEW s.other AS SELECT w FROM u",
    )
    assert 'FROM "s"."t"' in find(catalog, "s.own").definition
    assert 'FROM "main"."u"' in find(catalog, "s.other").definition


def test_only_the_schemas_that_are_named_are_read(path: Path) -> None:
    build_shop(path)
    catalog = read_duckdb_catalog(path, database="shop", schemas=("staff",))
    assert [table.qualified for table in catalog.tables] == ["staff.employees", "staff.names"]
    assert (catalog.search_path, catalog.foreign_keys) == (("staff",), ())
    assert catalog.short_names["staff.employees"] == "employees"


def test_a_view_on_a_file_outside_is_left_out(path: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    catalog = read(path, f"CREATE VIEW v AS SELECT * FROM read_csv('{tmp_path}/a.csv')")
    assert catalog.tables == ()


def test_a_file_named_like_its_schema_is_read(tmp_path: Path) -> None:
    # Opened under its own name, sales.orders would be ambiguous.
    path = tmp_path / "written.duckdb"
    write(path, "CREATE SCHEMA sales; CREATE TABLE sales.orders (id INT)")
    catalog = read_duckdb_catalog(path.rename(tmp_path / "sales.duckdb"), database="sales")
    assert [table.qualified for table in catalog.tables] == ["sales.orders"]
