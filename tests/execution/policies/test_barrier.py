"""The security barrier: nothing that a planner knows of hidden rows reaches an answer.

Without the barrier, or with half of it, the same queries tell; so the tests would notice.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.guard.guard import guard_query
from execution.policies.access import CompiledPolicy
from execution.policies.policy_file import parse_policy
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer, grant_reader
from execution.sqlite.database import SqliteDatabase
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, GuardedQuery, Principal, ResultSet, Violation
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.embedded_databases import fill_database
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.expecting import expect
from tests.execution.sqlite import shop as sqlite_shop
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
CREATE VIEW main.shown AS SELECT id, name FROM main.items WHERE owner = 'zed';
ANALYZE;
"""
# PostgreSQL computes these while it plans, on values that ANALYZE has sampled.
_TELLING = {
    "ilike": r"SELECT count(*) AS n FROM items WHERE name ILIKE 'hida\'",
    "like_in_a_join": "SELECT count(*) AS n FROM items AS p JOIN items AS i "
    r"ON i.id = p.id AND i.name NOT LIKE '%hida\'",
    "ilike_over_a_cte": "WITH w AS MATERIALIZED (SELECT * FROM items) "
    r"SELECT count(*) AS n FROM w WHERE name ILIKE ANY (ARRAY['x', 'hida\'])",
    "shared_view": r"SELECT count(*) AS n FROM shown WHERE name ILIKE 'hida\'",
    "ranges": "SELECT count(*) AS n FROM items WHERE period && '[0,1)'",
}


def guard(sql: str, catalog: Catalog, owner: str, masked: Sequence[str] = ()) -> GuardedQuery:
    policy = deepcopy(_POLICY)
    policy["shared"] = [each.qualified for each in catalog.tables if each.name == "shown"]
    policy["roles"]["member"]["masked_columns"] = [f"main.items.{name}" for name in masked]
    compiled = CompiledPolicy(parse_policy(policy), catalog)
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


async def test_sqlite_evaluates_no_condition_on_what_a_shared_view_leaves_out(
    tmp_path: Path,
) -> None:
    path = tmp_path / "items.sqlite"
    sqlite_shop.write(
        path,
        "CREATE TABLE items (id integer, owner text, name text);"
        "INSERT INTO items VALUES (1, 'bob', 'no JSON');"
        "CREATE VIEW shown AS SELECT name FROM items AS i"
        " WHERE EXISTS (SELECT 1 FROM items WHERE id = i.id AND owner = 'zed')",
    )
    query = guard(
        "SELECT name FROM shown WHERE json_extract(name, '$') = 1",
        read_sqlite_catalog(path, database="file"),
        "zed",
    )
    database = SqliteDatabase("file", path, LimitSettings())
    assert expect(ResultSet, await database.execute(query, 10)).rows == ()
    expect(Diagnostic, await database.execute(remove_barrier(query), 10))
    await database.close()


async def test_the_range_of_hidden_values_orders_no_rows(tmp_path: Path) -> None:
    # Known to be small, it would choose an array indexed by the value, which is read in
    # ascending order; the table of hashes keeps the order of the rows, here descending, within
    # parts that threads finish in any order.
    path = tmp_path / "items.duckdb"
    duckdb_shop.write(
        path,
        "CREATE TABLE items (id integer, owner varchar, name varchar);"
        "INSERT INTO items SELECT 99 - i % 100, 'zed', 'x' FROM range(7000) r(i);"
        "INSERT INTO items VALUES (101, 'bob', 'y')",
    )
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


# The larger the id, the smaller the pay, by which the indexes order it.
_RANKED = """
CREATE TABLE items (id integer, owner text, pay integer, note text{key});
INSERT INTO items
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
  SELECT i, CASE i % 50 WHEN 0 THEN 'zed' ELSE 'bob' END, 9000 - i, 'a long note' FROM n;
CREATE INDEX by_owner ON items (owner, pay, id);
"""
_WITH_KEY = _RANKED.format(key=", PRIMARY KEY (id)")


def check_order(rows: Sequence[Sequence[Any]], untold: Sequence[Sequence[Any]]) -> None:
    """``untold`` are the rows without the order of the wrapper: they are told by the pay."""
    ids, told = [row[0] for row in rows], [row[0] for row in untold]
    assert ids == sorted(ids)
    assert told == sorted(told, reverse=True)


def leave_out_order(query: GuardedQuery) -> GuardedQuery:
    return replace(query, sql=re.sub(r" ORDER BY [^ )]+", "", query.sql))


@pytest.mark.parametrize("schema", [_WITH_KEY, _RANKED.format(key="")], ids=["key", "no_key"])
async def test_an_index_on_a_masked_column_orders_no_rows_of_sqlite(
    schema: str, tmp_path: Path
) -> None:
    path = tmp_path / "items.sqlite"
    sqlite_shop.write(path, schema)
    database = SqliteDatabase("file", path, LimitSettings())
    query = guard(
        "SELECT id FROM items", read_sqlite_catalog(path, database="file"), "zed", ["pay"]
    )
    rows = expect(ResultSet, await database.execute(query, 200)).rows
    untold = expect(ResultSet, await database.execute(leave_out_order(query), 200)).rows
    await database.close()
    check_order(rows, untold)


async def test_an_index_on_a_masked_column_orders_no_rows_of_postgres(
    reader: PostgresDatabase, embedded_server: EmbeddedServer
) -> None:
    url = embedded_server.url(_DATABASE, SUPERUSER)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE main.items CASCADE; SET search_path = main")
        connection.execute(_WITH_KEY.encode())
        grant_reader(connection)
        connection.execute("VACUUM ANALYZE main.items")
    catalog = read_postgres_catalog(url, database=_DATABASE, reader_role=READER)
    query = guard("SELECT id FROM items", catalog, "zed", ["pay"])
    rows = expect(ResultSet, await reader.execute(query, 200)).rows
    untold = expect(ResultSet, await reader.execute(leave_out_order(query), 200)).rows
    check_order(rows, untold)
