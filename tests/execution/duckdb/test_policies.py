"""Row policies on DuckDB, through the guard and the database: rows, columns, masks, views."""

from __future__ import annotations

import pytest

from execution.guard.guard import PolicySettings, SqlGuard
from execution.policies.policy_file import parse_policy
from nl2sql.results.equivalence import are_equivalent
from nl2sql.types import Diagnostic, GuardedQuery, Principal, ResultSet, Violation
from tests.execution.duckdb.shop import ExposedShop
from tests.execution.expecting import expect
from tests.fakes import FakeCatalogs

POLICY = parse_policy(
    {
        "version": 1,
        "attributes": {"countries": {"type": "text[]"}, "boss": {"type": "integer"}},
        "shared": ["main.group"],
        "roles": {
            "seller": {
                "tables": {"visible": "*", "hidden": ["main.returns"]},
                "row_filters": {
                    "main.customers": "country IN :countries",
                    "staff.employees": "manager_id = :boss",
                },
                "hidden_columns": ["main.customers.tags"],
                "masked_columns": {
                    "staff.employees.salary": "null",
                    "main.customers.Loyalty Tier": "null",
                },
            }
        },
    }
)
SELLER = Principal("sam", ("seller",), (("countries", ("France", "DE")), ("boss", 1)))
NOT_FOR_SAM = {"Cid", "O'Hara", "Eve", 900, 777, 500, "gold", "silver", 4}


async def judge(exposed: ExposedShop, sql: str) -> GuardedQuery | Violation:
    policies = {"shop": PolicySettings(POLICY)}
    return await SqlGuard(FakeCatalogs(exposed.catalog), policies).guard("shop", sql, SELLER)


async def execute(exposed: ExposedShop, sql: str) -> ResultSet | Diagnostic:
    query = expect(GuardedQuery, await judge(exposed, sql))
    assert query.restricted
    return await exposed.database.execute(query, 1000)


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT name FROM customers ORDER BY 1", [("Ada",), ("Bob",)]),
        ("FROM customers SELECT count(*)", [(2,)]),
        ('SELECT "Loyalty Tier" FROM customers', [(None,), (None,)]),
        ("SELECT id FROM orders ORDER BY id", [(1,), (2,), (3,)]),
        ("SELECT name, salary FROM staff.employees ORDER BY 1", [("Fay", None), ("Gil", None)]),
        ("SELECT count(*) FROM staff.employees WHERE salary > 0", [(0,)]),
        ("SELECT sum(quantity) FROM order_lines", [(5,)]),
        ('SELECT count(*) FROM "group"', [(2,)]),
        ("SELECT name FROM CUSTOMERS AS orders WHERE true OR 1 = 1", [("Ada",), ("Bob",)]),
        ("SELECT id FROM customers UNION SELECT id FROM orders ORDER BY 1", [(1,), (2,), (3,)]),
        ("WITH orders AS (SELECT * FROM orders) SELECT count(*) FROM orders", [(3,)]),
        ("SELECT (SELECT count(*) FROM customers) FROM orders LIMIT 1", [(2,)]),
        (
            "SELECT c.name FROM orders AS o RIGHT JOIN customers AS c ON c.id = o.id + 9 "
            "ORDER BY 1",
            [("Ada",), ("Bob",)],
        ),
        ("SELECT a.name FROM customers a ANTI JOIN orders b ON b.id = a.id", []),
        ("SELECT arg_max(name, id) FROM customers", [("Bob",)]),
        ("SELECT unnest(list(name ORDER BY name)) FROM customers", [("Ada",), ("Bob",)]),
        ("SELECT DISTINCT ON (country) name FROM customers ORDER BY country", [("Bob",), ("Ada",)]),
        ("SELECT name FROM customers QUALIFY row_number() OVER (ORDER BY id DESC) = 1", [("Bob",)]),
        ("SELECT c.id FROM customers c, LATERAL (SELECT id FROM orders) o LIMIT 1", [(1,)]),
        # Views take the rules of what they read, and may call what a query may not.
        ("SELECT customer_id, shown FROM totals ORDER BY 1", [(1, "30.50"), (2, "5.00")]),
        ("SELECT who FROM staff.names ORDER BY 1", [("Fay",), ("Gil",)]),
    ],
)
async def test_only_what_may_be_seen_is_seen(
    sql: str, rows: list[tuple[object, ...]], exposed: ExposedShop
) -> None:
    result = expect(ResultSet, await execute(exposed, sql))
    # Without ORDER BY, DuckDB's threads decide which row comes first.
    assert are_equivalent(result.rows, rows, ordered="ORDER BY" in sql)
    assert not NOT_FOR_SAM & {value for row in result.rows for value in row}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT order_id FROM returns",
        "SELECT tags FROM customers",
        "SELECT customers.tags FROM customers",
        "SELECT name FROM customers ORDER BY tags",
        "SELECT id FROM customers WHERE list_contains(tags, 'vip')",
    ],
)
async def test_what_is_hidden_is_refused(sql: str, exposed: ExposedShop) -> None:
    assert expect(Violation, await judge(exposed, sql)).code == "not_permitted"


async def test_a_whole_row_has_no_hidden_column(exposed: ExposedShop) -> None:
    result = await execute(exposed, "SELECT customers FROM customers ORDER BY id")
    assert isinstance(result, ResultSet), result
    ((row,), _) = result.rows
    assert isinstance(row, dict)
    assert (row["Name"], row["Loyalty Tier"]) == ("Ada", None)
    assert "tags" not in row


@pytest.mark.parametrize(
    "probe",
    ["CAST(CASE WHEN name = 'Cid' THEN 'it' ELSE '1' END AS INT) = 1", "1 // (id - 4) <= 1"],
)
async def test_no_error_tells_of_a_row_that_is_filtered_out(
    probe: str, exposed: ExposedShop
) -> None:
    result = await execute(exposed, f"SELECT count(*) FROM customers WHERE {probe}")
    assert isinstance(result, ResultSet), result
    assert result.rows == ((2,),)


async def test_an_error_of_a_row_that_is_seen_carries_no_value(exposed: ExposedShop) -> None:
    result = expect(Diagnostic, await execute(exposed, "SELECT name::INT FROM customers"))
    assert result.sqlstate == "22P02"
    assert "Ada" not in result.message
