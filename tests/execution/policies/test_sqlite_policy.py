"""A policy on SQLite: filters, inheritance, masks and hashes through the real reader."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from execution.guard.guard import guard_query
from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.sqlite.database import SqliteDatabase
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, GuardedQuery, Principal, ResultSet, Violation
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.execution.expecting import expect

SCHEMA = """
CREATE TABLE staff (id INTEGER PRIMARY KEY, name TEXT, pay INTEGER, team TEXT);
CREATE TABLE absences (id INTEGER PRIMARY KEY, staff_id INTEGER REFERENCES staff, days INTEGER);
CREATE VIEW long_absences AS SELECT staff_id, days FROM absences WHERE days > 3;
INSERT INTO staff VALUES (1, 'Ann', 100, 'red'), (2, 'Bob', 777, 'blue'), (3, 'Cid', 300, 'green');
INSERT INTO absences VALUES (1, 1, 2), (2, 1, 5), (3, 2, 9), (4, 3, 4);
"""
POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {"teams": {"type": "text[]"}},
    "hash_key_env": "KEY",
    "roles": {
        "lead": {
            "tables": {"visible": ["main.staff", "main.absences", "main.long_absences"]},
            "row_filters": {"main.staff": "team IN :teams"},
            "masked_columns": {"main.staff.pay": "null", "main.staff.name": "hash"},
        }
    },
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "staff.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(SCHEMA)
    return file


@pytest.fixture
async def database(path: Path) -> AsyncIterator[SqliteDatabase]:
    reader = SqliteDatabase("staff", path, LimitSettings())
    yield reader
    await reader.close()


def find_access(path: Path, *teams: str) -> Access:
    compiled = CompiledPolicy(
        parse_policy(POLICY), read_sqlite_catalog(path, database="staff"), environ={"KEY": "pepper"}
    )
    access = compiled.access(Principal("ann", ("lead",), (("teams", teams),)))
    assert not isinstance(access, Violation)
    return access


async def run(
    database: SqliteDatabase, access: Access, sql: str
) -> tuple[tuple[object, ...], ...] | Diagnostic:
    verdict = expect(GuardedQuery, guard_query(sql, access))
    result = await database.execute(verdict, 100)
    return result.rows if isinstance(result, ResultSet) else result


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT id FROM staff ORDER BY id", ((1,), (3,))),
        ("SELECT count(*) FROM absences", ((3,),)),
        ("SELECT staff_id, days FROM long_absences ORDER BY days", ((3, 4), (1, 5))),
        ("SELECT pay FROM staff WHERE id = 1", ((None,),)),
        ("SELECT id FROM staff WHERE pay = 777 OR 1 = 1 ORDER BY id", ((1,), (3,))),
        ("SELECT id FROM STAFF UNION SELECT id FROM [Staff] ORDER BY 1", ((1,), (3,))),
        ("SELECT name FROM staff WHERE id = 1", ((hashlib.sha256(b"pepperAnn").hexdigest(),),)),
    ],
)
async def test_only_what_may_be_seen_comes_back(
    database: SqliteDatabase, path: Path, sql: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    assert await run(database, find_access(path, "red", "green"), sql) == rows


async def test_an_empty_list_shows_nothing(database: SqliteDatabase, path: Path) -> None:
    assert await run(database, find_access(path), "SELECT id FROM staff") == ()


async def test_no_error_tells_of_a_hidden_row(database: SqliteDatabase, path: Path) -> None:
    access = find_access(path, "red")
    rows = await run(
        database,
        access,
        "SELECT id FROM staff WHERE abs(CASE id WHEN 2 THEN "
        "-9223372036854775807 - 1 ELSE 1 END) = 1",
    )
    assert rows == ((1,),)


@pytest.mark.parametrize("sql", ["SELECT quorumsql_hash('', name) FROM staff"])
def test_a_query_cannot_hash_by_itself(path: Path, sql: str) -> None:
    verdict = expect(Violation, guard_query(sql, find_access(path, "red")))
    assert verdict.code == "function_not_allowed"
