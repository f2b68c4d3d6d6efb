"""What the guard tells the rest of the service, and what its answers carry."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.guard.guard import PolicySettings, SqlGuard, guard_query
from execution.policies.access import open_access
from execution.policies.policy_file import parse_policy
from nl2sql.catalog import Catalog
from nl2sql.errors import IndexUnavailable, PolicyError
from nl2sql.types import GuardedQuery, Principal, Violation
from tests.execution.expecting import expect
from tests.execution.policies.shop import build_policy_value, compile_shop, find_access
from tests.fakes import PRODUCTS, SHOP, FakeCatalogs

CLERK = Principal("ann", ("clerk",), (("country", "DE"),))
NOBODY = Principal("eve")
VALUE = build_policy_value()
del VALUE["roles"]["seller"]
SETTINGS = {"shop": PolicySettings(parse_policy(VALUE))}


async def test_without_a_policy_everybody_sees_everything() -> None:
    guard = SqlGuard(FakeCatalogs(SHOP))
    assert await guard.visible_catalog("shop", NOBODY) is SHOP
    assert await guard.open_columns("shop", NOBODY) is None
    await guard.check("shop")
    assert await guard.probe() == ()


async def test_a_principal_sees_a_part() -> None:
    guard = SqlGuard(FakeCatalogs(SHOP), SETTINGS)
    catalog = await guard.visible_catalog("shop", CLERK)
    assert isinstance(catalog, Catalog)
    assert catalog.table("sales.employees") is None
    assert await guard.open_columns("shop", CLERK) == frozenset(
        f"stock.products.{column.name}" for column in PRODUCTS.columns
    )
    access = await guard.access("shop", CLERK)
    assert not isinstance(access, Violation)
    assert access.restricted


async def test_who_has_no_role_sees_nothing() -> None:
    guard = SqlGuard(FakeCatalogs(SHOP), SETTINGS)
    for verdict in (
        await guard.visible_catalog("shop", NOBODY),
        await guard.access("shop", NOBODY),
        await guard.guard("shop", "SELECT 1", NOBODY),
    ):
        assert isinstance(verdict, Violation)
        assert verdict.code == "not_permitted"
    assert await guard.open_columns("shop", NOBODY) == frozenset()


async def test_a_guarded_query_names_whose_it_is() -> None:
    guard = SqlGuard(FakeCatalogs(SHOP), SETTINGS)
    query = await guard.guard("shop", "SELECT 1", CLERK)
    assert isinstance(query, GuardedQuery)
    assert query.principal == "ann"
    # It is the same query all the same.
    assert query == replace(query, principal="bob")


async def test_a_policy_that_does_not_fit_is_told_at_the_start() -> None:
    misfit = PolicySettings(parse_policy({**VALUE, "shared": ["stock.nothing"]}))
    guard = SqlGuard(FakeCatalogs(SHOP), {"shop": misfit})
    ((name, problem),) = await guard.probe()
    assert name == "policy shop"
    assert "stock.nothing" in problem
    with pytest.raises(PolicyError):
        await guard.check("shop")
    fitting = SqlGuard(FakeCatalogs(SHOP), SETTINGS)
    assert await fitting.probe() == (("policy shop", ""),)


def test_an_answer_carries_what_it_reads() -> None:
    sql = "SELECT o.total, c.name, p.name FROM orders o, customers c, products p"
    plain = expect(GuardedQuery, guard_query(sql, open_access(SHOP)))
    assert (plain.database, plain.dialect) == ("shop", "postgres")
    assert plain.tables == ("sales.customers", "sales.orders", "stock.products")
    assert (plain.predicates, plain.params) == ((), ())
    assert not plain.restricted
    assert plain.session is None
    # PostgreSQL tells its plan, which is held against the query; of the others, see below.
    assert (plain.reads, plain.functions) == (None, ())
    guarded = expect(GuardedQuery, guard_query(sql, find_access("clerk")))
    assert guarded.tables == plain.tables
    assert guarded.restricted
    # A table that all may see has no predicate.
    assert guarded.predicates == (
        'sales.customers: _qsql_0."country" = :country',
        'sales.orders: EXISTS (SELECT 1 FROM "sales"."customers" AS _qsql_1 WHERE _qsql_1."id" = '
        '_qsql_0."customer_id" AND (_qsql_1."country" = :country))',
    )
    assert guarded.params == ("DE",)
    boss = expect(GuardedQuery, guard_query(sql, find_access("boss")))
    assert not boss.restricted


def test_an_answer_carries_what_its_filters_call() -> None:
    filters = {"sales.customers": "lower(country) = :country"}
    compiled = compile_shop(clerk={"row_filters": filters})
    filtered = guard_query("SELECT name FROM customers", find_access("clerk", compiled=compiled))
    assert expect(GuardedQuery, filtered).functions == ("lower",)
    plain = guard_query("SELECT lower(name) FROM customers", find_access("clerk"))
    assert isinstance(plain, GuardedQuery)
    assert plain.functions == ()


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_an_answer_carries_every_column_that_it_may_touch(dialect: str) -> None:
    catalog = replace(SHOP, dialect=dialect)
    verdict = guard_query("SELECT count(*) FROM products", open_access(catalog))
    assert isinstance(verdict, GuardedQuery)
    assert verdict.reads == frozenset(
        f"stock.products.{column.name}" for column in PRODUCTS.columns
    )
    seller = {"row_filters": {"sales.employees": "id IN :sellers"}, "rows": "all"}
    access = find_access("clerk", compiled=compile_shop(catalog, seller=seller))
    wrapped = expect(GuardedQuery, guard_query("SELECT name FROM customers", access))
    # SQLite's wrapper is in the order of the key, since a column is hidden.
    read = ["country", "name", "id"] if dialect == "sqlite" else ["country", "name"]
    assert wrapped.reads == frozenset(f"sales.customers.{name}" for name in read)


async def test_nothing_passes_when_the_catalog_is_unavailable() -> None:
    with pytest.raises(IndexUnavailable):
        await SqlGuard(FakeCatalogs()).guard("shop", "SELECT 1", Principal("tester"))


async def test_a_dropped_table_is_refused_once_the_catalog_is_new() -> None:
    catalogs = FakeCatalogs(SHOP)
    sql_guard = SqlGuard(catalogs)
    query = "SELECT id FROM orders"
    assert isinstance(await sql_guard.guard("shop", query, Principal("tester")), GuardedQuery)
    kept = tuple(table for table in SHOP.tables if table.name != "orders")
    catalogs.catalogs["shop"] = Catalog("shop", kept, search_path=SHOP.search_path)
    verdict = expect(Violation, await sql_guard.guard("shop", query, Principal("tester")))
    assert verdict.code == "unknown_table"
