"""A heading is the name or the text of an output in the query, whatever was rewritten.

The policy's constants, masks and hidden columns stand in the text that runs, never in a heading.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.guard.guard import guard_query
from execution.policies.access import Access, CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.sqlite.database import SqliteDatabase
from nl2sql.settings import LimitSettings
from nl2sql.types import GuardedQuery, Principal, ResultSet, Violation
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.expecting import expect
from tests.execution.sqlite import shop as sqlite_shop

SCHEMA = """
CREATE TABLE emp (id INTEGER, Name TEXT, sal INTEGER, region TEXT, note TEXT);
INSERT INTO emp VALUES (1, 'Ann', 700, 'north-777', 'x'), (2, 'Bob', 900, 'south', 'y');
"""
POLICY = parse_policy(
    {
        "version": 1,
        "database": "firm",
        "roles": {
            "clerk": {
                "tables": {"visible": "*"},
                "row_filters": {"main.emp": "region = 'north-777'"},
                "hidden_columns": ["main.emp.note"],
                "masked_columns": ["main.emp.sal"],
            }
        },
    }
)
LIMITS = LimitSettings(pool_size=1, file_memory_mib=256)

SQLITE = (
    "SELECT (SELECT max(sal) FROM emp), EXISTS(SELECT 1 FROM emp), id IN (SELECT id FROM emp) "
    "FROM emp",
    "SELECT COUNT(*), count( * ), sum(sal)+1, -id, name, NAME, emp.id, (id) FROM emp GROUP BY 5, 6,"
    " 7, 8, 4",
    "SELECT * FROM (SELECT (SELECT max(sal) FROM emp), Count(*), id + 1 FROM emp GROUP BY id) AS d",
    "WITH c AS (SELECT (SELECT count(*) FROM emp), CAST(id AS int) FROM emp) SELECT * FROM c",
    "SELECT CASE WHEN id = 1 THEN name END, 1, 'it''s', NULL, id||'', x.Name FROM emp AS x",
    "SELECT id + 1 FROM emp UNION ALL SELECT (SELECT 2 FROM emp LIMIT 1) ORDER BY 1",
    "SELECT count(*) -- rows\n, 1 FROM emp",
    "VALUES (1, 2)",
    'SELECT "id", [id], "none such", id COLLATE NOCASE, x\'00\', 0x1F FROM emp',
    'SELECT * FROM (SELECT "none such", id COLLATE NOCASE, (TRUE), (Name) FROM emp) AS d',
)
# DuckDB would write an expression in its own way: count_star(), (id + 1).
DUCKDB = {
    "SELECT (SELECT max(sal) FROM emp), -id, NAME, emp.id, (id) FROM emp": (
        *("(SELECT max(sal) FROM emp)", "-id", "Name", "id", "id"),
    ),
    "SELECT * FROM (SELECT (SELECT max(sal) FROM emp), id + 1 FROM emp)": (
        *("(SELECT max(sal) FROM emp)", "id + 1"),
    ),
    "SELECT {'a': id}.a, s.a, (s).a, t.s.a, t.s.a.b FROM (SELECT id, {'a': {'b': id}} AS s FROM "
    "emp) AS t": ("{'a': id}.a", "a", "(s).a", "a", "b"),
    "WITH c AS (SELECT t.s.a.b FROM (SELECT {'a': {'b': 1}} AS s) AS t) SELECT b FROM c": ("b",),
    "SELECT rank() OVER w FROM emp WINDOW w AS (ORDER BY id)": ("rank() OVER w",),
    "SELECT count(*) UNION ALL BY NAME SELECT max(id) FROM emp": ("count(*)", "max(id)"),
    "FROM emp SELECT name.lower(), CURRENT_DATE, count(*) OVER () -- rows": (
        *("name.lower()", "CURRENT_DATE", "count(*) OVER ()"),
    ),
    "VALUES (1, 2)": ("col0", "col1"),
}


OPEN: dict[str, tuple[Any, ...]] = {
    "sqlite": (sqlite_shop.write, read_sqlite_catalog, SqliteDatabase),
    "duckdb": (duckdb_shop.write, read_duckdb_catalog, DuckDbDatabase),
}


def guard(dialect: str, sql: str, path: Path) -> tuple[GuardedQuery | Violation, Database]:
    write, read_catalog, kind = OPEN[dialect]
    write(path, SCHEMA)
    policy = CompiledPolicy(POLICY, read_catalog(path, database="firm"))
    access = policy.access(Principal("cleo", ("clerk",)))
    return guard_query(sql, expect(Access, access)), kind("firm", path, LIMITS)


async def read_headings(dialect: str, sql: str, path: Path) -> tuple[str, ...]:
    query, database = guard(dialect, sql, path)
    assert isinstance(query, GuardedQuery), query
    result = expect(ResultSet, await database.execute(query, 10))
    await database.close()
    assert "north-777" not in repr(result.columns)
    return result.columns


@pytest.mark.parametrize("sql", SQLITE)
async def test_a_heading_is_sqlites(sql: str, tmp_path: Path) -> None:
    headings = await read_headings("sqlite", sql, tmp_path / "firm")
    with closing(sqlite3.connect(tmp_path / "firm")) as connection:
        assert headings == tuple(name for name, *_ in connection.execute(sql).description)


@pytest.mark.parametrize(("sql", "expected"), DUCKDB.items())
async def test_a_heading_is_the_querys_text(
    sql: str, expected: tuple[str, ...], tmp_path: Path
) -> None:
    assert await read_headings("duckdb", sql, tmp_path / "firm") == expected


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("sqlite", 'SELECT count(*) FROM emp ORDER BY "count(*)"'),
        ("sqlite", 'SELECT id + 1 FROM emp WHERE "id + 1" = 2'),
        ("duckdb", 'SELECT count(*) FROM emp ORDER BY "count(*)"'),
        ("duckdb", 'SELECT id + 1, "id + 1" * 2 FROM emp'),
    ],
)
def test_a_query_cannot_name_its_own_heading(dialect: str, sql: str, tmp_path: Path) -> None:
    verdict = expect(Violation, guard(dialect, sql, tmp_path / "firm")[0])
    assert verdict.message.startswith("Give the output "), verdict


@pytest.mark.parametrize("dialect", OPEN)
def test_headings_cannot_make_a_query_long(dialect: str, tmp_path: Path) -> None:
    inner = f"SELECT '{'x' * 9000}'"
    for level in range(3):
        inner = f"SELECT (SELECT x FROM (SELECT ({inner}), 1 AS x) AS d{level})"
    verdict = expect(Violation, guard(dialect, inner, tmp_path / "firm")[0])
    assert "give them names" in verdict.message, verdict
