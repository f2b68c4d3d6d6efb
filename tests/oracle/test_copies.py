"""The oracle's own copies hold what a policy says, no more and no less; checked row by row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
import yaml

from execution.postgres.embedded import EmbeddedServer
from nl2sql.catalog import Table
from nl2sql.types import Principal
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.embedded_databases import fill_database
from tests.golden import load_text
from tests.oracle.file_copies import FORMS, build_file_copy
from tests.oracle.grants import Parent, list_grants, read_principal
from tests.oracle.marked_database import MARK, NUMBERS, build_marked
from tests.oracle.postgres_copies import (
    FORWARD,
    ORDERS,
    build_copy,
    list_relations,
    open_superuser,
)

SOURCE = "oracle_copies"
DESCRIBED: Mapping[str, Any] = yaml.safe_load(load_text("oracle/copies.yaml"))
CASES = DESCRIBED["cases"]
TABLES = [
    *(Table("s", name, ()) for name in ("teams", "people", "trips", "secrets", "cars", "vans")),
    *(Table("s", name, (), kind="view") for name in ("costs", "twice", "codes", "leaks", "sums")),
]
MEMBER = Principal("m", ("member",), (("team", 1),))

Rows = list[tuple[Any, ...]]


def select_cases(kind: str) -> list[Any]:
    return [
        pytest.param(case, id=f"{at}_{'_'.join(case['roles'])}")
        for at, case in enumerate(CASES)
        if case["kind"] == kind
    ]


def read_expected(case: Mapping[str, Any]) -> dict[str, Rows]:
    return {name: order([tuple(row) for row in rows]) for name, rows in case["holds"].items()}


@pytest.fixture(scope="module")
def source(embedded_server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    """The server with the database that copies are made of."""
    with fill_database(embedded_server, SOURCE, load_text("oracle/copies_postgres.sql")):
        yield embedded_server


@contextmanager
def copied(source: EmbeddedServer, principal: Principal, **options: str) -> Iterator[str]:
    """Makes the principal's copy, gives its name, and drops it afterwards."""
    roles = list_grants(DESCRIBED["postgres"], principal, TABLES, "postgres")
    build_copy(source, SOURCE, "oracle_copy", roles, **options)
    yield "oracle_copy"
    source.drop_database("oracle_copy")


def read_all(server: EmbeddedServer, database: str) -> dict[str, Rows]:
    with open_superuser(server, database) as connection:
        return {
            relation.name.removeprefix("s."): connection.execute(
                b"SELECT * FROM " + relation.identifier.as_bytes()
            ).fetchall()
            for relation in list_relations(connection)
        }


def order(rows: Rows) -> Rows:
    return sorted(rows, key=lambda row: [(value is None, str(value)) for value in row])


@pytest.mark.parametrize("rows_order", ORDERS)
@pytest.mark.parametrize("case", select_cases("postgres"))
def test_a_copy_holds_what_its_principal_sees(
    source: EmbeddedServer, case: Mapping[str, Any], rows_order: str
) -> None:
    principal = read_principal("m", case["roles"], case["attributes"])
    with copied(source, principal, order=rows_order) as copy:
        found = read_all(source, copy)
    assert {name: order(rows) for name, rows in found.items()} == read_expected(case)


def test_a_filtered_role_that_says_nothing_of_a_table_is_no_role() -> None:
    role = {"tables": {"visible": ["s.secrets"]}, "row_filters": {}}
    policy = {"roles": {"odd": role}}
    odd = Principal("o", ("odd",))
    with pytest.raises(ValueError, match=r"which rows of s\.secrets"):
        list_grants(policy, odd, TABLES, "postgres")
    derived = {"odd": {"s.secrets": {"columns": ["id"], "references": "s.teams", "to": ["id"]}}}
    (grants,) = list_grants(policy, odd, TABLES, "postgres", derived=derived)
    assert grants["s.secrets"].parent == Parent(("id",), "s.teams", ("id",))


def test_the_orders_lay_rows_differently(source: EmbeddedServer) -> None:
    seen = set()
    for rows_order in (FORWARD, "reverse"):
        with copied(source, MEMBER, order=rows_order) as copy:
            seen.add(tuple(read_all(source, copy)["teams"]))
    assert len(seen) == 2


def test_a_key_without_masks_stays_a_key(source: EmbeddedServer) -> None:
    with copied(source, MEMBER) as copy, open_superuser(source, copy) as connection:
        rows = connection.execute("SELECT id, mail FROM s.people GROUP BY id").fetchall()
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO s.people VALUES (10, 1, '', NULL)")
    assert len(rows) == 2


def test_what_is_hidden_is_marked_and_nothing_else(source: EmbeddedServer) -> None:
    roles = list_grants(DESCRIBED["postgres"], MEMBER, TABLES, "postgres")
    build_marked(source, SOURCE, "oracle_marked", roles)
    found = read_all(source, "oracle_marked")
    source.drop_database("oracle_marked")
    people = {row[0]: row for row in found["people"]}
    # The keys and the filter's column decide who sees a row: they stay.
    assert {key: row[1] for key, row in people.items()} == {10: 1, 11: 1, 12: 2, 13: None}
    assert all(MARK in row[2] and MARK in row[4] for row in people.values())
    assert all(row[3] in NUMBERS for row in people.values())
    assert [row for row in found["trips"] if row[2] not in NUMBERS] == [(100, 10, 5), (101, 11, 6)]
    assert order(found["teams"]) == [(1, "red"), (2, "blue"), (3, "green")]
    assert all(MARK in row[1] for row in found["secrets"])


@pytest.mark.parametrize(
    ("dialect", "form"), [(dialect, form) for dialect, forms in FORMS.items() for form in forms]
)
@pytest.mark.parametrize("case", select_cases("files"))
def test_a_copy_of_a_file_holds_what_its_principal_sees(
    tmp_path: Path, dialect: str, form: str, case: Mapping[str, Any]
) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    read = read_sqlite_catalog if dialect == "sqlite" else read_duckdb_catalog
    with closing(open_file(dialect, whole)) as connection:
        for statement in load_text("oracle/copies_files.sql").split(";\n"):
            connection.execute(statement)
        connection.commit()
    catalog = read(whole, database="d")
    grants = list_grants(
        DESCRIBED["files"],
        read_principal("m", case["roles"], case["attributes"]),
        catalog.tables,
        dialect,
    )
    build_file_copy(whole, part, catalog, grants, form=form)
    with closing(open_file(dialect, part)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        found = {
            name: connection.execute(f'SELECT * FROM "{name}"').fetchall()
            for (name,) in tables.fetchall()
        }
    assert {name: order(rows) for name, rows in found.items()} == read_expected(case)


def open_file(dialect: str, path: Path) -> sqlite3.Connection | duckdb.DuckDBPyConnection:
    return sqlite3.connect(path) if dialect == "sqlite" else duckdb.connect(path)
