"""The read-only database to a DuckDB file: values, limits, plans and time.

Queries are put into a GuardedQuery by hand.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from execution.duckdb.database import DuckDbDatabase
from nl2sql.results.json_values import Interval
from nl2sql.settings import LimitSettings
from nl2sql.types import Diagnostic, Explained, GuardedQuery, ResultSet
from tests.execution.duckdb.shop import TABLES, query, run, write
from tests.execution.expecting import expect
from tests.golden import load_changes


async def test_gives_rows_with_names_and_types(database: DuckDbDatabase) -> None:
    result = await run(database, "SELECT id, NAME, tags AS T, 1.5, NULL FROM main.customers")
    assert result.columns == ("id", "Name", "T", "1.5", "NULL")
    assert result.types == ("INTEGER", "VARCHAR", "VARCHAR[]", "DECIMAL(2,1)", "NULL")
    assert result.rows[0] == (1, "Ada", ["new", "vip"], Decimal("1.5"), None)
    assert not result.truncated


async def test_two_columns_may_have_one_name(database: DuckDbDatabase) -> None:
    result = await run(database, "SELECT id, id, name AS id FROM main.customers ORDER BY 1 LIMIT 1")
    assert (result.columns, result.rows) == (("id", "id", "id"), ((1, 1, "Ada"),))


async def test_a_page_without_end_is_cut(database: DuckDbDatabase) -> None:
    result = await run(database, "SELECT i FROM range(1000000000000) AS r (i)", max_rows=3)
    assert (result.rows, result.truncated) == (((0,), (1,), (2,)), True)


async def test_parameters_are_bound(database: DuckDbDatabase) -> None:
    sql = "SELECT id FROM main.customers WHERE country = $2 AND list_contains($1, id)"
    guarded = GuardedQuery("shop", sql, TABLES, params=((1, 2), "France"), dialect="duckdb")
    assert expect(ResultSet, await database.execute(guarded, 10)).rows == ((1,),)
    assert isinstance(await database.explain(guarded), Explained)


@pytest.mark.parametrize(("sql", "value"), load_changes("values", "duckdb"))
async def test_a_value_keeps_its_meaning(sql: str, value: str, database: DuckDbDatabase) -> None:
    ((found,),) = (await run(database, f"SELECT {sql}")).rows
    assert repr(found.parts if isinstance(found, Interval) else found) == value


async def test_a_long_cell_is_cut_and_told(path: Path) -> None:
    write(path, "CREATE TABLE long AS SELECT repeat('ä', 3000) AS t, repeat('x', 9)::BLOB AS b")
    small = LimitSettings(cell_bytes=1024)
    database = DuckDbDatabase("shop", path, small)
    sql = "SELECT t, b, [t] AS l FROM main.long"
    result = await run(database, sql, 10, "main.long")
    await database.close()
    assert result.rows == (("ä" * 512, b"x" * 9, None),)
    assert result.cut == ((0, 0), (0, 2))


# -- plans -------------------------------------------------------------------------------------


async def test_explains_by_the_rows_that_the_steps_give(database: DuckDbDatabase) -> None:
    one = await database.explain(query("SELECT 1"))
    scan = await database.explain(query("SELECT name FROM main.customers"))
    pairs = await database.explain(
        query("SELECT c.name FROM main.customers AS c, staff.employees AS e")
    )
    assert isinstance(one, Explained)
    assert isinstance(scan, Explained)
    assert isinstance(pairs, Explained)
    assert scan.rows == 4.0
    assert pairs.rows == 12.0
    assert one.cost < scan.cost < pairs.cost


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM main.big AS a, main.big AS b WHERE a.i + b.i = 3",
        "SELECT a.i FROM main.big AS a, main.big AS b ORDER BY a.i + b.i LIMIT 3",
        "SELECT sum(a.i) FROM main.big AS a CROSS JOIN main.big AS b",
        "SELECT count(*) FROM main.big AS a LEFT JOIN main.big AS b ON a.i + b.i > 7",
    ],
)
async def test_a_product_that_is_too_large_is_not_started(
    sql: str, path: Path, database: DuckDbDatabase
) -> None:
    write(path, "CREATE TABLE big AS SELECT i FROM range(10000) AS r (i)")
    for answer in (
        await database.execute(query(sql, "main.big"), 10),
        await database.explain(query(sql, "main.big")),
    ):
        assert isinstance(answer, Diagnostic)
        assert answer.sqlstate == "54001"
        assert "1e+08" in answer.message
        assert "limits.max_estimated_rows" in answer.hint
    hidden = expect(Diagnostic, await database.execute(query(sql, "main.big", restricted=True), 10))
    assert hidden.sqlstate == "54001"
    assert "1e+08" not in hidden.message


async def test_the_first_page_of_a_large_product_is_no_large_query(
    path: Path, database: DuckDbDatabase
) -> None:
    write(path, "CREATE TABLE big AS SELECT i FROM range(10000) AS r (i)")
    result = await run(database, "SELECT a.i FROM main.big AS a, main.big AS b", 3, "main.big")
    assert (len(result.rows), result.truncated) == (3, True)


async def test_a_join_by_a_key_is_no_product(path: Path, database: DuckDbDatabase) -> None:
    write(path, "CREATE TABLE big AS SELECT i, i % 3 AS g FROM range(100000) AS r (i)")
    sql = (
        "SELECT count(*) FROM (SELECT a.i, (SELECT max(b.i) FROM main.big AS b WHERE b.g = a.g) "
        "FROM main.big AS a)"
    )
    assert (await run(database, sql, 3, "main.big")).rows == ((100_000,),)
