"""The oracle's own copies hold what a policy says, no more and no less; checked row by row."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from execution.postgres.embedded import EmbeddedServer
from nl2sql.catalog import Table
from nl2sql.types import Principal
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.oracle.file_copies import FORMS, build_file_copy
from tests.oracle.grants import Parent, list_grants
from tests.oracle.marked_database import MARK, NUMBERS, build_marked, has_mark
from tests.oracle.outcomes import Outcome
from tests.oracle.postgres_copies import (
    FORWARD,
    ORDERS,
    build_copy,
    list_relations,
    open_superuser,
)

SOURCE = "oracle_copies"
KEY = "a key"
SCHEMA = """
CREATE SCHEMA s;
CREATE TABLE s.teams (id integer PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE s.people (
    id integer PRIMARY KEY, team integer REFERENCES s.teams (id), mail text NOT NULL,
    salary numeric(14,2) NOT NULL CHECK (salary > 0), code text NOT NULL);
CREATE TABLE s.trips (id integer PRIMARY KEY, person integer REFERENCES s.people (id), cost bigint);
CREATE TABLE s.secrets (id integer, text text);
CREATE VIEW s.costs AS
  SELECT p.mail, sum(t.cost) AS cost
    FROM s.people p LEFT JOIN s.trips t ON t.person = p.id GROUP BY 1;
CREATE VIEW s.twice AS SELECT mail, 2 * cost AS cost FROM s.costs;
CREATE VIEW s.codes AS SELECT code FROM s.people;
CREATE VIEW s.leaks AS SELECT text FROM s.secrets;
CREATE VIEW s.sums AS SELECT team, sum(salary) AS salary FROM s.people GROUP BY team;
INSERT INTO s.teams VALUES (1, 'red'), (2, 'blue'), (3, 'green');
INSERT INTO s.people VALUES (10, 1, 'a@x', 100, 'A'), (11, 1, 'b@x', 200, 'B'),
  (12, 2, 'c@x', 300, 'C'), (13, NULL, 'd@x', 400, 'D');
INSERT INTO s.trips VALUES (100, 10, 5), (101, 11, 6), (102, 12, 7), (103, NULL, 8), (104, 13, 9);
INSERT INTO s.secrets VALUES (1, 'x');
"""
POLICY: dict[str, Any] = {
    "attributes": {"team": {"type": "integer"}, "names": {"type": "text[]"}},
    "shared": ["s.teams"],
    "roles": {
        "member": {
            "tables": {
                "visible": ["s.people", "s.trips", "s.costs", "s.twice", "s.codes", "s.leaks"]
            },
            "row_filters": {"s.people": "team = :team"},
            "inherit": {"s.trips": {"columns": ["person"], "references": "s.people"}},
            "hidden_columns": ["s.people.code"],
            "masked_columns": {"s.people.salary": None, "s.people.mail": "hash"},
        },
        "namer": {
            "tables": {"visible": ["s.people", "s.sums"], "hidden": ["s.teams"]},
            "row_filters": {"s.people": "code IN :names", "s.sums": "team = 2"},
            "inherit": {},
        },
    },
}
TABLES = [
    *(Table("s", name, ()) for name in ("teams", "people", "trips", "secrets")),
    *(Table("s", name, (), kind="view") for name in ("costs", "twice", "codes", "leaks", "sums")),
]
MEMBER = Principal("m", ("member",), (("team", 1),))
NAMER = Principal("n", ("namer",), (("names", ("B", "C")),))
BOTH = Principal("b", ("member", "namer"), (*MEMBER.attributes, *NAMER.attributes))
NOBODY = Principal("z", ("namer",), (("names", ()),))

Rows = list[tuple[Any, ...]]


def digest(text: str) -> str:
    return sha256((KEY + text).encode()).hexdigest()


A, B = digest("a@x"), digest("b@x")
EXPECTED: dict[str, tuple[Principal, dict[str, Rows]]] = {
    "member": (
        MEMBER,
        {
            "teams": [(1, "red"), (2, "blue"), (3, "green")],
            "people": [(10, 1, A, None), (11, 1, B, None)],
            "trips": [(100, 10, 5), (101, 11, 6)],
            "costs": sorted([(A, 5), (B, 6)]),
            "twice": sorted([(A, 10), (B, 12)]),
        },
    ),
    "namer": (
        NAMER,
        {"people": [(11, 1, "b@x", 200, "B"), (12, 2, "c@x", 300, "C")], "sums": [(2, 300)]},
    ),
    "both": (
        BOTH,
        {
            "teams": [(1, "red"), (2, "blue"), (3, "green")],
            # A value is shown if one of the roles that see the row shows it.
            "people": [
                (10, 1, A, None, None),
                (11, 1, "b@x", 200, "B"),
                (12, 2, "c@x", 300, "C"),
            ],
            "trips": [(100, 10, 5), (101, 11, 6)],
            "sums": [(2, 300)],
            "codes": [("B",), ("C",), (None,)],
            "costs": sorted([(A, 5), ("b@x", 6), ("c@x", None)]),
            "twice": sorted([(A, 10), ("b@x", 12), ("c@x", None)]),
        },
    ),
    "nobody": (NOBODY, {"people": [], "sums": [(2, 300)]}),
}


@pytest.fixture(scope="module")
def source(embedded_server: EmbeddedServer) -> Iterator[EmbeddedServer]:
    """The server with the database that copies are made of."""
    embedded_server.drop_database(SOURCE)
    embedded_server.create_database(SOURCE)
    with open_superuser(embedded_server, SOURCE) as connection:
        connection.execute(SCHEMA.encode())
    yield embedded_server
    embedded_server.drop_database(SOURCE)


@contextmanager
def copied(source: EmbeddedServer, principal: Principal, **options: str) -> Iterator[str]:
    """Makes the principal's copy, gives its name, and drops it afterwards."""
    roles = list_grants(POLICY, principal, TABLES, "postgres")
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
@pytest.mark.parametrize("case", EXPECTED)
def test_a_copy_holds_what_its_principal_sees(
    source: EmbeddedServer, case: str, rows_order: str
) -> None:
    principal, expected = EXPECTED[case]
    with copied(source, principal, order=rows_order, hash_key=KEY) as copy:
        found = read_all(source, copy)
    assert {name: order(rows) for name, rows in found.items()} == {
        name: order(rows) for name, rows in expected.items()
    }


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
    roles = list_grants(POLICY, MEMBER, TABLES, "postgres")
    build_marked(source, SOURCE, "oracle_marked", roles)
    found = read_all(source, "oracle_marked")
    source.drop_database("oracle_marked")
    people = {row[0]: row for row in found["people"]}
    # The keys and the filter's column decide who sees a row, and a hash would change: they stay.
    assert {key: row[1] for key, row in people.items()} == {10: 1, 11: 1, 12: 2, 13: None}
    assert [row[2] for row in people.values()] == ["a@x", "b@x", "c@x", "d@x"]
    assert all(row[3] in NUMBERS and MARK in row[4] for row in people.values())
    assert [row for row in found["trips"] if row[2] not in NUMBERS] == [(100, 10, 5), (101, 11, 6)]
    assert order(found["teams"]) == [(1, "red"), (2, "blue"), (3, "green")]
    assert all(MARK in row[1] for row in found["secrets"])


@pytest.mark.parametrize(
    ("outcome", "marked"),
    [
        (Outcome(("a",), ((f"{MARK}(0,1)x",),)), True),
        (Outcome(("a",), (("x", [1, f"{MARK}"]),)), True),
        (Outcome(("a",), (({"k": NUMBERS.start},),)), True),
        (Outcome(("a",), ((NUMBERS.start + 1,),)), True),
        (Outcome(sqlstate="22P02", message=f"invalid input: {MARK}"), True),
        (Outcome(("a",), (("x", 1, None, True, Decimal("NaN")),)), False),
        (Outcome(sqlstate="22012", message="division by zero"), False),
    ],
)
def test_a_mark_is_found_wherever_it_stands(outcome: Outcome, marked: bool) -> None:
    assert has_mark(outcome) is marked


# -- files -------------------------------------------------------------------------------------

FILE_SCHEMA = """
CREATE TABLE teams (id integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE "People" (id integer PRIMARY KEY, team integer REFERENCES teams (id),
    mail text NOT NULL, salary real NOT NULL, code text);
CREATE TABLE trips (id integer, person integer REFERENCES "People" (id), cost integer);
CREATE TABLE secrets (text text);
INSERT INTO teams VALUES (1, 'red'), (2, 'blue');
INSERT INTO "People" VALUES
    (10, 1, 'a@x', 1.5, 'A'), (11, 2, 'b@x', 2.5, 'B'), (12, 1, 'c@x', 3, 'C');
INSERT INTO trips VALUES (100, 10, 5), (101, 11, 6), (102, NULL, 7), (103, 12, 8);
"""
FILE_POLICY: dict[str, Any] = {
    "shared": ["main.teams"],
    "roles": {
        "member": {
            "tables": {"visible": ["main.People", "main.trips"]},
            "row_filters": {"main.People": "team = :team"},
            "inherit": {"main.trips": {"columns": ["person"], "references": "main.People"}},
            "hidden_columns": ["main.People.code"],
            "masked_columns": ["main.People.salary"],
        },
        "coder": {
            "tables": {"visible": ["main.People"]},
            "row_filters": {"main.People": "code = 'B'"},
        },
    },
}


@pytest.mark.parametrize(
    ("dialect", "form"), [(dialect, form) for dialect, forms in FORMS.items() for form in forms]
)
@pytest.mark.parametrize(
    ("roles", "expected"),
    [
        (
            ("member",),
            {
                "teams": [(1, "red"), (2, "blue")],
                "People": [(10, 1, "a@x", None), (12, 1, "c@x", None)],
                "trips": [(100, 10, 5), (103, 12, 8)],
            },
        ),
        (
            ("member", "coder"),
            {
                "teams": [(1, "red"), (2, "blue")],
                "People": [
                    (10, 1, "a@x", None, None),
                    (11, 2, "b@x", 2.5, "B"),
                    (12, 1, "c@x", None, None),
                ],
                "trips": [(100, 10, 5), (103, 12, 8)],
            },
        ),
    ],
    ids=["one_role", "two_roles"],
)
def test_a_copy_of_a_file_holds_what_its_principal_sees(
    tmp_path: Path, dialect: str, form: str, roles: tuple[str, ...], expected: dict[str, Rows]
) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    read = read_sqlite_catalog if dialect == "sqlite" else read_duckdb_catalog
    with closing(open_file(dialect, whole)) as connection:
        for statement in FILE_SCHEMA.split(";\n"):
            connection.execute(statement)
        connection.commit()
    catalog = read(whole, database="d")
    principal = Principal("m", roles, (("team", 1),))
    grants = list_grants(FILE_POLICY, principal, catalog.tables, dialect)
    build_file_copy(whole, part, catalog, grants, form=form)
    with closing(open_file(dialect, part)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        found = {
            name: connection.execute(f'SELECT * FROM "{name}"').fetchall()
            for (name,) in tables.fetchall()
        }
    assert {name: order(rows) for name, rows in found.items()} == expected


def open_file(dialect: str, path: Path) -> sqlite3.Connection | duckdb.DuckDBPyConnection:
    return sqlite3.connect(path) if dialect == "sqlite" else duckdb.connect(path)
