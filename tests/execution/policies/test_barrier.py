"""The security barrier: nothing that a planner knows of hidden rows reaches an answer.

Without the barrier, or with half of it, the same queries tell; so the tests would notice. Only
DuckDB moves no condition that may fail past another.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import psycopg
import pytest

from execution.duckdb.database import DuckDbDatabase
from execution.executor import Database
from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import parse_policy
from execution.postgres.database import PostgresDatabase
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer, grant_reader
from execution.sqlite.database import SqliteDatabase
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from nl2sql.settings.database import AssistantSettings
from nl2sql.types import GuardedQuery, Principal, ResultSet
from retrieval.introspection.duckdb_file import read_duckdb_catalog
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from retrieval.introspection.sqlite_file import read_sqlite_catalog
from tests.embedded_databases import fill_database
from tests.execution.duckdb import shop as duckdb_shop
from tests.execution.expecting import expect
from tests.execution.sqlite import shop as sqlite_shop
from tests.execution.trusted import remove_barrier, remove_half
from tests.fakes import FakeCatalogs

_DATABASE = "barrier"
_SHOWN = "EXISTS (SELECT 1 FROM main.owners AS o WHERE o.owner = i.owner AND o.label = 'Zed')"
_SCHEMA = f"""
CREATE TABLE main.owners (owner varchar(9) PRIMARY KEY, label varchar(9));
CREATE TABLE main.items (
  id integer PRIMARY KEY, owner varchar(9) REFERENCES main.owners (owner), name varchar(9)
);
INSERT INTO main.owners VALUES ('zed', 'Zed'), ('bob', 'Bob');
INSERT INTO main.items
  WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
  SELECT i, CASE i WHEN 2 THEN 'zed' ELSE 'bob' END, CASE i WHEN 2 THEN '7' ELSE 'none' END FROM n;
CREATE VIEW main.shown AS SELECT id, owner, name FROM main.items AS i WHERE {_SHOWN};
CREATE VIEW main.above AS SELECT id, name FROM main.shown WHERE id > 0;
CREATE VIEW main.whole AS SELECT id, owner, name FROM main.items;
CREATE VIEW main.joined AS SELECT i.id, i.name FROM main.items AS i
  JOIN main.owners AS o ON o.owner = i.owner JOIN main.items AS j ON j.id = i.id;
CREATE VIEW main.cte AS
  WITH i AS (SELECT id, owner, name FROM main.items) SELECT id, name FROM i WHERE {_SHOWN};
"""
# SQLite reads the name from this index, and a condition on it comes before others.
_SQLITE_SCHEMA = _SCHEMA.replace("main.", "") + "CREATE INDEX by_name ON items (name, id);"
_POSTGRES_SCHEMA = f"""
CREATE SCHEMA main;
{_SCHEMA}
CREATE MATERIALIZED VIEW main.stored AS SELECT id, owner, name FROM main.items;
CREATE VIEW main.over_stored AS SELECT id, name FROM main.stored AS i WHERE {_SHOWN};
CREATE TABLE main.parts (id integer, owner varchar(9), name varchar(9)) PARTITION BY LIST (owner);
CREATE TABLE main.part PARTITION OF main.parts DEFAULT;
INSERT INTO main.parts SELECT id, owner, name FROM main.items;
CREATE TABLE main.heirs () INHERITS (main.items);
CREATE FUNCTION main.name_of(integer) RETURNS text LANGUAGE sql STABLE COST 1
  AS 'SELECT name FROM main.items WHERE id = $1';
CREATE VIEW main.called AS
  SELECT id, main.name_of(id) AS name FROM main.items WHERE lower(upper(owner)) = 'zed';
CREATE FUNCTION main.lower(integer) RETURNS text LANGUAGE sql STABLE COST 1
  AS 'SELECT name FROM main.items WHERE id = $1';
CREATE VIEW main.lowered AS
  SELECT id, main.lower(id) AS name FROM main.items WHERE lower(upper(owner)) = 'zed';
CREATE TABLE main.ranges (id integer PRIMARY KEY, owner text, name numrange);
-- So far apart that their distance is no float.
INSERT INTO main.ranges
  SELECT id, owner, (ARRAY['[-1.7e308,-1.6e308)', '[1.6e308,1.7e308)'])[id % 2 + 1]::numrange
    FROM main.items;
ANALYZE;
"""
# True in zed's row. It fails in bob's, on PostgreSQL also on a sampled value while it plans.
_CONDITIONS = {
    "postgres": r"{0}.name NOT ILIKE 'no\'",
    "ranges": "NOT {0}.name && '[0,1)'",
    "sqlite": "{0}.name > '' AND json_extract({0}.name, '$') = 7",
    "duckdb": "7 % ({0}.id - 1) = 0",
}
_QUERIES = (
    "SELECT id FROM {table} WHERE {condition}",
    "SELECT j.id FROM (SELECT id AS n FROM {table}) d JOIN {table} AS j ON j.id = n AND {joined}",
    "SELECT id FROM {table} GROUP BY id, name HAVING {condition}",
)


@dataclass(frozen=True, slots=True)
class _Case:
    """What is read; the principal's roles, none without a policy; and the assistant's tables."""

    reads: str
    roles: tuple[dict[str, Any], ...] = ()
    shared: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()


def _show(*tables: str, **filters: str) -> dict[str, Any]:
    return {
        "tables": {"visible": [f"main.{table}" for table in tables]},
        "row_filters": {f"main.{table}": text for table, text in filters.items()},
    }


_OWN = "owner = 'zed'"
_ALL = {"tables": {"visible": "*"}, "rows": "all"}
_NAMELESS = _ALL | {"hidden_columns": ["main.items.name", "main.whole.name"]}
_INHERITED = _show("owners", "items", "whole", owners="label = 'Zed'")
_CASES = {
    "row filter": _Case("items", (_show("items", items=_OWN),)),
    "inherited": _Case("items", (_INHERITED,)),
    "two roles": _Case("items", (_INHERITED, _show("items", items="id < 1"))),
    "shared": _Case("shown", (_show(),), ("shown",)),
    "shared, above a view": _Case("above", (_show(),), ("above",)),
    "shared, with a CTE": _Case("cte", (_show(),), ("cte",)),
    "filtered view": _Case("whole", (_show("whole", whole=_OWN),)),
    "expanded": _Case("whole", (_INHERITED,)),
    "expanded, of two joins": _Case(
        "joined", (_show("owners", "items", "joined", owners="label = 'Zed'"),)
    ),
    "expanded, above a shared one": _Case("above", (_show("above"),), ("shown",)),
    "assistant": _Case("shown", tables=("shown",)),
    "assistant, above a view": _Case("above", tables=("above",)),
    "assistant, both views": _Case("above", tables=("above", "shown")),
    "assistant, with a CTE": _Case("cte", tables=("cte", "owners")),
    "assistant, policy without restrictions": _Case("shown", (_ALL,), tables=("shown",)),
    "assistant, expanded": _Case(
        "shown", (_ALL | {"hidden_columns": ["main.whole.id"]},), tables=("shown",)
    ),
}
_POSTGRES_CASES = _CASES | {
    "materialized view": _Case("stored", (_show("stored", stored=_OWN),)),
    "shared, over a materialized view": _Case("over_stored", (_show(),), ("over_stored",)),
    "assistant, over one": _Case("over_stored", tables=("over_stored", "owners", "items")),
    "a function": _Case("called", (_NAMELESS,)),
    "a function with a built-in name": _Case("lowered", (_NAMELESS,)),
    "ranges": _Case("ranges", (_show("ranges", ranges=_OWN),)),
    "partitions": _Case("parts", (_show("parts", parts=_OWN),)),
    "ancestor": _Case("items", (_show("items", "heirs", items=_OWN, heirs=_OWN),)),
}


async def guard(sql: str, catalog: Catalog, case: _Case) -> GuardedQuery:
    name = catalog.database
    roles = {f"role{n}": role for n, role in enumerate(case.roles)}
    shared = [f"main.{table}" for table in case.shared]
    policies = {}
    if roles:
        policy = parse_policy({"version": 1, "shared": shared, "roles": roles})
        policies[name] = PolicySettings(policy)
    tables = tuple(f"main.{table}" for table in case.tables)
    assistants = {"desk": AssistantSettings(database=name, tables=tables)}
    guard = SqlGuard(FakeCatalogs(catalog), policies, assistants=assistants)
    zed = Principal("zed", tuple(roles))
    # Without a policy, what one person says of an answer teaches all.
    assert (await guard.open_columns("desk", zed) is None) == (not roles)
    return expect(GuardedQuery, await guard.guard("desk", sql, zed))


async def find_telling(
    cases: Mapping[str, _Case], catalog: Catalog, database: Database
) -> set[str]:
    """The cases whose queries all fail without the barrier, or half of it.

    With it they show zed's row.
    """
    telling = set(cases)
    for (name, case), text in product(cases.items(), _QUERIES):
        condition = _CONDITIONS.get(case.reads, _CONDITIONS[catalog.dialect])
        here, joined = condition.format(case.reads), condition.format("j")
        sql = text.format(table=case.reads, condition=here, joined=joined)
        query = await guard(sql, catalog, case)
        assert query.restricted
        assert expect(ResultSet, await database.execute(query, 10)).rows == ((2,),), (name, sql)
        none = remove_barrier(query)
        assert none != query
        for less in {none, remove_half(query)} - {query}:
            if isinstance(await database.execute(less, 10), ResultSet):
                telling.discard(name)
    return telling


@pytest.fixture
async def reader(embedded_server: EmbeddedServer) -> AsyncIterator[PostgresDatabase]:
    with fill_database(embedded_server, _DATABASE, _POSTGRES_SCHEMA):
        url = embedded_server.url(_DATABASE, READER)
        database = PostgresDatabase(_DATABASE, url, LimitSettings(), search_path=("main",))
        yield database
        await database.close()


async def test_postgres_evaluates_no_condition_on_a_row_that_is_left_out(
    reader: PostgresDatabase, embedded_server: EmbeddedServer
) -> None:
    url = embedded_server.url(_DATABASE, SUPERUSER)
    catalog = read_postgres_catalog(url, database=_DATABASE, reader_role=READER)
    # There are no samples of what a function returns.
    telling = {name for name in _POSTGRES_CASES if not name.startswith("a function")}
    assert await find_telling(_POSTGRES_CASES, catalog, reader) == telling


async def test_sqlite_evaluates_no_condition_on_a_row_that_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "items.sqlite"
    sqlite_shop.write(path, _SQLITE_SCHEMA)
    database = SqliteDatabase("file", path, LimitSettings())
    catalog = read_sqlite_catalog(path, database="file")
    assert await find_telling(_CASES, catalog, database) == set(_CASES)
    await database.close()


async def test_duckdb_evaluates_no_condition_on_a_row_that_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "items.duckdb"
    duckdb_shop.write(path, _SCHEMA)
    database = DuckDbDatabase("file", path, LimitSettings())
    catalog = read_duckdb_catalog(path, database="file")
    assert await find_telling(_CASES, catalog, database) == set()
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
    catalog = read_duckdb_catalog(path, database="file")
    sql = "SELECT id, count(*) AS n FROM items GROUP BY id"
    query = await guard(sql, catalog, _CASES["row filter"])
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
CREATE VIEW ranked AS SELECT id, owner FROM items WHERE owner = 'zed';
CREATE VIEW in_order AS SELECT id FROM items WHERE owner = 'zed' ORDER BY pay;
"""
_WITH_KEY = _RANKED.format(key=", PRIMARY KEY (id)")
_MASKED = {"masked_columns": ["main.items.pay"]}
_RANKS = (
    _Case("items", (_show("items", items=_OWN) | _MASKED,)),
    _Case("ranked", (_show(),), ("ranked",)),
    _Case("ranked", (_show("items", "ranked", items=_OWN, ranked=_OWN) | _MASKED,)),
    _Case("ranked", tables=("ranked",)),
)


async def check_order(catalog: Catalog, database: Database) -> None:
    """The pay orders the rows only where a view says so, or without the guard's measures."""
    for case in _RANKS:
        query = await guard(f"SELECT id FROM {case.reads}", catalog, case)
        less = replace(
            query, sql=re.sub(r" ORDER BY [^ )]+", "", query.sql), avoids_index_order=False
        )
        for each, is_told in ((query, False), (less, True)):
            found = await database.execute(each, 200)
            ids: list[Any] = [row[0] for row in expect(ResultSet, found).rows]
            assert ids == sorted(ids, reverse=is_told), (case, each.sql)
    own = await guard("SELECT id FROM in_order", catalog, _Case("", (_show(),), ("in_order",)))
    ids = [row[0] for row in expect(ResultSet, await database.execute(own, 200)).rows]
    assert ids == sorted(ids, reverse=True)


@pytest.mark.parametrize("schema", [_WITH_KEY, _RANKED.format(key="")], ids=["key", "no_key"])
async def test_an_index_on_a_hidden_column_orders_no_rows_of_sqlite(
    schema: str, tmp_path: Path
) -> None:
    path = tmp_path / "items.sqlite"
    sqlite_shop.write(path, schema)
    database = SqliteDatabase("file", path, LimitSettings())
    await check_order(read_sqlite_catalog(path, database="file"), database)
    await database.close()


async def test_an_index_on_a_hidden_column_orders_no_rows_of_postgres(
    reader: PostgresDatabase, embedded_server: EmbeddedServer
) -> None:
    url = embedded_server.url(_DATABASE, SUPERUSER)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP TABLE main.items CASCADE; SET search_path = main")
        connection.execute(_WITH_KEY.encode())
        grant_reader(connection)
        connection.execute("VACUUM ANALYZE main.items")
    catalog = read_postgres_catalog(url, database=_DATABASE, reader_role=READER)
    await check_order(catalog, reader)
