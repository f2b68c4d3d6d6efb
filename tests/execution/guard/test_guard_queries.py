"""What analysts write passes the guard with its meaning unchanged (golden: fixtures/guard.sql)."""

from __future__ import annotations

import postgast
import pytest
import sqlglot
from sqlglot import exp
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers

from execution.guard.guard import SqlGuard
from nl2sql.types import GuardedQuery, Principal, Violation
from tests.fakes import SHOP, FakeCatalogs
from tests.golden import Pair, load_pairs

PAIRS = load_pairs("guard")


async def guard(sql: str) -> GuardedQuery:
    verdict = await SqlGuard(FakeCatalogs(SHOP)).guard("shop", sql, Principal("tester"))
    assert not isinstance(verdict, Violation), verdict
    return verdict


def named_selects(sql: str) -> list[str]:
    """The names of a query's columns as PostgreSQL folds them."""
    parsed = sqlglot.parse(sql, dialect="postgres")[0]
    assert isinstance(parsed, exp.Query)
    tree = normalize_identifiers(parsed, dialect="postgres")
    return tree.named_selects


@pytest.mark.parametrize("pair", PAIRS, ids=[pair.title for pair in PAIRS])
async def test_a_harmless_query_keeps_its_meaning(pair: Pair) -> None:
    query = await guard(pair.before)
    assert query.sql == pair.after
    assert await guard(query.sql) == query
    assert len(postgast.parse(query.sql).stmts) == 1
    assert named_selects(query.sql) == named_selects(pair.before)
    # Every table is qualified and listed.
    tree = sqlglot.parse_one(query.sql, dialect="postgres")
    ctes = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    tables = [table for table in tree.find_all(exp.Table) if table.name]
    assert all(table.db or table.name.lower() in ctes for table in tables)
    assert query.tables == tuple(
        sorted({f"{table.db}.{table.name}" for table in tables if table.db})
    )


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        ("SELECT id, total FROM orders", ("id", "total")),
        ("SELECT o.id FROM orders AS o WHERE o.total > 1", ("id", "total")),
        ("SELECT count(*) FROM orders", ()),
        ("SELECT NAME FROM customers", ("name",)),
    ],
    ids=["selected", "compared", "none", "folded"],
)
async def test_the_columns_that_a_query_reads_are_listed(
    sql: str, columns: tuple[str, ...]
) -> None:
    assert (await guard(sql)).columns == columns


async def test_tables_are_listed_by_their_qualified_names() -> None:
    sql = "SELECT p.name FROM products AS p JOIN order_lines AS l ON l.product_id = p.id"
    assert (await guard(sql)).tables == ("sales.order_lines", "stock.products")


async def test_a_long_list_of_conditions_passes() -> None:
    sql = "SELECT id FROM orders WHERE " + " OR ".join(f"id = {number}" for number in range(300))
    assert (await guard(sql)).tables == ("sales.orders",)


async def test_a_cte_hides_the_table_of_its_name() -> None:
    assert (await guard("WITH orders AS (SELECT 1 AS id) SELECT id FROM orders")).tables == ()
