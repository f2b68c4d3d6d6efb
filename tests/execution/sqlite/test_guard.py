"""The guard on SQLite: nothing changes what a query means.

What it refuses is in ``tests/attacks``. The oracle runs each harmless query twice on one file, as
it was written by plain ``sqlite3`` and as the guard wrote it through the read-only database, and
wants the same rows.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from execution.guard.guard import SqlGuard
from execution.sqlite.database import SqliteDatabase
from nl2sql.catalog import Catalog
from nl2sql.settings import LimitSettings
from nl2sql.types import GuardedQuery, Principal, ResultSet, Violation
from tests.execution.sqlite.shop import build_shop, read_raw
from tests.fakes import FakeCatalogs
from tests.golden import Pair, load_pairs

PAIRS = load_pairs("guard_sqlite")

# Words in double quotes that look like SQL, and what comes of them as strings or names.
DISGUISES = {
    'SELECT "1); DROP TABLE orders; --"': [("1); DROP TABLE orders; --",)],
    'SELECT "\' OR 1 = 1 --"': [("' OR 1 = 1 --",)],
    "SELECT id FROM orders WHERE status = \"x' OR '1' = '1\"": [],
    'SELECT id FROM orders WHERE "secrets" = "secrets" AND id = 1': [(1,)],
    'SELECT "a`; DROP TABLE orders; `" FROM orders LIMIT 1': [("a`; DROP TABLE orders; `",)],
    'SELECT id AS "`; DROP TABLE orders; `" FROM orders LIMIT 1': [(1,)],
    'SELECT "ID" FROM orders AS "secrets" LIMIT 1': [(1,)],
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shop") / "shop.sqlite"


@pytest.fixture(scope="module")
def catalog(path: Path) -> Catalog:
    return build_shop(path)


async def judge(catalog: Catalog, sql: str) -> GuardedQuery | Violation:
    return await SqlGuard(FakeCatalogs(catalog)).guard("shop", sql, Principal("tester"))


async def guard(catalog: Catalog, sql: str) -> GuardedQuery:
    verdict = await judge(catalog, sql)
    assert not isinstance(verdict, Violation), verdict
    return verdict


async def run(path: Path, query: GuardedQuery) -> list[tuple[object, ...]]:
    database = SqliteDatabase("shop", path, LimitSettings())
    try:
        result = await database.execute(query, 1000)
    finally:
        await database.close()
    assert isinstance(result, ResultSet), result
    return list(result.rows)


@pytest.mark.parametrize("sql", DISGUISES)
async def test_a_word_in_double_quotes_is_never_code(
    sql: str, catalog: Catalog, path: Path
) -> None:
    assert await run(path, await guard(catalog, sql)) == DISGUISES[sql]


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])
async def test_a_harmless_query_keeps_its_meaning(pair: Pair, catalog: Catalog, path: Path) -> None:
    query = await guard(catalog, pair.before)
    assert query.sql == pair.after
    assert await guard(catalog, query.sql) == query
    assert await run(path, query) == read_raw(path, pair.before)


async def test_column_names_of_the_result_stay_what_they_were(catalog: Catalog, path: Path) -> None:
    query = await guard(catalog, "SELECT NAME, id AS \"Number\", country AS 'From' FROM customers")
    database = SqliteDatabase("shop", path, LimitSettings())
    result = await database.execute(query, 1)
    await database.close()
    assert isinstance(result, ResultSet)
    assert result.columns == ("Name", "Number", "From")
