"""The security barrier: nothing that a planner knows of hidden rows reaches an answer.

Without the barrier, or with half of it, the same queries tell; so the tests would notice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.guard.guard import guard_query
from execution.policies.access import CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, GuardedQuery, Principal, ResultSet, Violation
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.embedded_databases import fill_database
from tests.execution.expecting import expect
from tests.execution.trusted import SECOND_PART, remove_barrier

_DATABASE = "barrier"
_POLICY: dict[str, Any] = {
    "version": 1,
    "attributes": {"owner": {"type": "text"}},
    "roles": {
        "member": {
            "tables": {"visible": ["main.items"]},
            "row_filters": {"main.items": "owner = :owner"},
        }
    },
}
_SCHEMA = """
CREATE SCHEMA main;
CREATE TABLE main.items (id integer PRIMARY KEY, owner text, name text, period numrange);
-- Ranges so far apart that their distance is no float.
INSERT INTO main.items
  SELECT n, 'bob', 'hidalgo',
         (ARRAY['[-1.7e308,-1.6e308)', '[1.6e308,1.7e308)'])[n % 2 + 1]::numrange
    FROM generate_series(1, 400) AS n;
ANALYZE;
"""
# PostgreSQL computes these while it plans, on values that ANALYZE has sampled.
_TELLING = {
    "ilike": r"SELECT count(*) AS n FROM items WHERE name ILIKE 'hida\'",
    "like_in_a_join": "SELECT count(*) AS n FROM items AS p JOIN items AS i "
    r"ON i.id = p.id AND i.name NOT LIKE '%hida\'",
    "ilike_over_a_cte": "WITH w AS MATERIALIZED (SELECT * FROM items) "
    r"SELECT count(*) AS n FROM w WHERE name ILIKE ANY (ARRAY['x', 'hida\'])",
    "ranges": "SELECT count(*) AS n FROM items WHERE period && '[0,1)'",
}


def guard(sql: str, catalog: Catalog, owner: str) -> GuardedQuery:
    compiled = CompiledPolicy(parse_policy(_POLICY), catalog)
    access = compiled.access(Principal("zed", ("member",), (("owner", owner),)))
    assert not isinstance(access, Violation)
    return expect(GuardedQuery, guard_query(sql, access))


@pytest.fixture
async def reader(embedded_server: EmbeddedServer) -> AsyncIterator[PostgresDatabase]:
    with fill_database(embedded_server, _DATABASE, _SCHEMA):
        url = embedded_server.url(_DATABASE, READER)
        database = PostgresDatabase(_DATABASE, url, LimitSettings(), search_path=("main",))
        yield database
        await database.close()


async def test_statistics_tell_nothing(
    reader: PostgresDatabase, embedded_server: EmbeddedServer
) -> None:
    catalog = read_postgres_catalog(
        embedded_server.url(_DATABASE, SUPERUSER), database=_DATABASE, reader_role=READER
    )
    told: dict[str, set[str]] = {"whole": set(), "half": set(), "none": set()}
    for name, sql in _TELLING.items():
        whole = guard(sql, catalog, "zed")
        half = replace(whole, sql=SECOND_PART.sub("", whole.sql))
        none = remove_barrier(whole)
        for kind, query in (("whole", whole), ("half", half), ("none", none)):
            result = await reader.execute(query, 10)
            if isinstance(result, Diagnostic):
                told[kind].add(name)
            else:
                assert result.rows == ((0,),)
    assert told == {"whole": set(), "half": set(_TELLING), "none": set(_TELLING)}


async def test_the_range_of_hidden_values_orders_no_rows(tmp_path: Path) -> None:
    # Known to be small, it would choose an array indexed by the value, which is read in
    # ascending order; the table of hashes keeps the order of the rows, here descending, within
    # parts that threads finish in any order.
    path = tmp_path / "items.duckdb"
    with closing(duckdb.connect(path)) as connection:
        connection.execute("CREATE TABLE items (id integer, owner varchar, name varchar)")
        connection.execute(
            "INSERT INTO items SELECT 99 - i % 100, 'zed', 'x' FROM range(7000) r(i)"
        )
        connection.execute("INSERT INTO items VALUES (101, 'bob', 'y')")
    query = guard(
        "SELECT id, count(*) AS n FROM items GROUP BY id",
        read_duckdb_catalog(path, database="file"),
        "zed",
    )
    database = DuckDbDatabase("file", path, LimitSettings())
    ids: list[Any] = [row[0] for row in expect(ResultSet, await database.execute(query, 200)).rows]
    await database.close()
    assert sorted(ids) == list(range(100))
    assert ids != sorted(ids)
