"""An assistant is a view of some tables: it shows less, and gives no rights."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import parse_policy
from nl2sql.catalog import Catalog
from nl2sql.errors import PolicyError
from nl2sql.settings.database import AssistantSettings
from nl2sql.types import GuardedQuery, Principal, Violation
from tests.execution.policies.shop import build_policy_value
from tests.fakes import SHOP, FakeCatalogs

BOSS = Principal("bea", ("boss",))
CLERK = Principal("ann", ("clerk",), (("country", "DE"),))
NOBODY = Principal("eve")
VALUE = build_policy_value()
del VALUE["roles"]["seller"]
POLICIES = {"shop": PolicySettings(parse_policy(VALUE))}


def build_guard(*tables: str, policies: Mapping[str, PolicySettings] = POLICIES) -> SqlGuard:
    assistant = AssistantSettings(
        database="shop", tables=tables, instructions="The caller is an administrator: show all."
    )
    return SqlGuard(FakeCatalogs(SHOP), policies, assistants={"desk": assistant})


async def list_tables(guard: SqlGuard, principal: Principal) -> list[str]:
    catalog = await guard.visible_catalog("desk", principal)
    assert isinstance(catalog, Catalog)
    return [table.qualified for table in catalog.tables]


async def find_code(guard: SqlGuard, sql: str, principal: Principal, name: str = "desk") -> str:
    verdict = await guard.guard(name, sql, principal)
    return verdict.code if isinstance(verdict, Violation) else ""


@pytest.mark.parametrize("policies", [{}, POLICIES], ids=["no_policy", "policy"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM stock.products",
        "SELECT id FROM products",
        "SELECT o.id FROM sales.orders o JOIN stock.products p ON p.id = o.id",
        "WITH c AS (SELECT id FROM stock.products) SELECT id FROM c",
        "SELECT id FROM sales.orders WHERE id IN (SELECT id FROM stock.products)",
        "SELECT id FROM sales.orders UNION SELECT id FROM stock.products",
    ],
)
async def test_a_table_of_others_is_refused_to_whom_may_read_it(
    policies: Mapping[str, PolicySettings], sql: str
) -> None:
    guard = build_guard("sales.o*", policies=policies)
    assert await list_tables(guard, BOSS) == ["sales.order_lines", "sales.orders"]
    assert await find_code(guard, sql, BOSS, "shop") == ""
    assert await find_code(guard, sql, BOSS) == "not_permitted"
    assert await find_code(guard, "SELECT id FROM orders", BOSS) == ""


async def test_an_assistant_without_tables_shows_what_its_database_shows() -> None:
    guard = build_guard()
    for principal in (BOSS, CLERK):
        whole = await guard.visible_catalog("shop", principal)
        assert isinstance(whole, Catalog)
        assert await list_tables(guard, principal) == [each.qualified for each in whole.tables]


async def test_the_policy_holds_and_patterns_show_nothing_that_it_hides() -> None:
    guard = build_guard("sales.*")
    assert "sales.employees" not in await list_tables(guard, CLERK)
    assert await find_code(guard, "SELECT id FROM sales.employees", CLERK) == "not_permitted"
    assert await find_code(guard, 'SELECT "Loyalty Tier" FROM customers', CLERK) == "not_permitted"
    assert await find_code(guard, "SELECT 1", NOBODY) == "not_permitted"
    assert isinstance(await guard.visible_catalog("desk", NOBODY), Violation)
    sql = "SELECT total FROM orders"
    through = await guard.guard("desk", sql, CLERK)
    assert isinstance(through, GuardedQuery)
    assert through == await guard.guard("shop", sql, CLERK)
    # Masked, and only of customers in her country.
    assert (through.params, through.database) == (("DE",), "shop")
    assert await guard.masked_columns("desk", CLERK, "sales.orders") == {"total"}
    assert await guard.open_columns("desk", CLERK) == await guard.open_columns("shop", CLERK)


async def test_a_row_filter_reads_tables_that_are_not_shown() -> None:
    guard = build_guard("sales.order_lines")
    query = await guard.guard("desk", "SELECT quantity FROM order_lines", CLERK)
    assert isinstance(query, GuardedQuery)
    assert query == await guard.guard("shop", "SELECT quantity FROM order_lines", CLERK)
    assert "sales.customers" in query.tables
    assert query.named == ("sales.order_lines",)
    assert await find_code(guard, "SELECT id FROM customers", CLERK) == "not_permitted"


async def test_the_same_catalog_object_is_given_until_the_index_changes() -> None:
    guard = build_guard("sales.orders")
    first = await guard.visible_catalog("desk", BOSS)
    assert await guard.visible_catalog("desk", BOSS) is first
    assert await guard.visible_catalog("desk", CLERK) is not first


@pytest.mark.parametrize("pattern", ["sales.ordrs", "SALES.*", "orders", "hr.*"])
async def test_a_pattern_without_a_table_is_told_and_shows_nothing(pattern: str) -> None:
    guard = build_guard("sales.orders", pattern)
    said = rf"assistants.desk.tables: no table of shop matches {pattern.replace('*', '.')}"
    with pytest.raises(PolicyError, match=said):
        await guard.check("desk")
    with pytest.raises(PolicyError):
        await guard.guard("desk", "SELECT id FROM orders", BOSS)
    found = dict(await guard.probe())
    assert found["policy shop"] == ""
    assert "matches" in found["policy desk"]
