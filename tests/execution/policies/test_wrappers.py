"""The derived table of a table, for several roles and in each dialect; views among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from execution.guard.guard import guard_query
from nl2sql.errors import PolicyError
from nl2sql.types import GuardedQuery, Violation
from tests.execution.expecting import expect
from tests.execution.policies.shop import compile_shop, find_access
from tests.fakes import SHOP, build_table
from tests.golden import load_changes

TWO_ROLES: dict[str, Any] = {
    "clerk": {
        "tables": {"visible": ["sales.customers"]},
        "masked_columns": ["sales.customers.name"],
    },
    "seller": {
        "tables": {"visible": ["sales.customers"]},
        "row_filters": {"sales.customers": "id IN :sellers"},
        "masked_columns": [],
    },
}


def wrap(dialect: str, *roles: str, column: str = "name", **changes: Any) -> str:
    """What takes the place of the customers for these roles."""
    compiled = compile_shop(replace(SHOP, dialect=dialect), **{**TWO_ROLES, **changes})
    verdict = guard_query(f"SELECT {column} FROM customers", find_access(*roles, compiled=compiled))
    assert isinstance(verdict, GuardedQuery), verdict
    return verdict.sql.partition(" FROM (")[2].rpartition(") AS customers")[0]


def test_a_value_is_shown_in_the_rows_of_a_role_that_shows_it() -> None:
    sellers = '_qsql_0."id" = ANY(CAST($1 AS bigint[]))'
    country = '_qsql_0."country" = CAST($2 AS text)'
    part = (
        f'SELECT CASE WHEN {sellers} THEN _qsql_0."name" ELSE CAST(NULL AS text) END AS "name" '
        'FROM "sales"."customers" AS _qsql_0 WHERE '
    )
    order = 'ORDER BY _qsql_0."id"'
    assert wrap("postgres", "clerk", "seller") == (
        f"({part}({country}) OR ({sellers}) {order}) UNION ALL {part}FALSE OFFSET 0"
    )


def test_sqlite_keeps_the_affinity_of_a_value_that_some_rows_show() -> None:
    assert wrap("sqlite", "clerk", "seller") == (
        'SELECT (SELECT _qsql_0."name" WHERE _qsql_0.`id` IN (?1, ?2)) AS "name" FROM '
        '"sales"."customers" AS _qsql_0 WHERE (_qsql_0.`country` = ?3) OR '
        "(_qsql_0.`id` IN (?1, ?2)) "
        'ORDER BY _qsql_0."id" LIMIT -1 OFFSET 0'
    )


def test_a_role_that_sees_every_row_shows_every_value_that_it_shows() -> None:
    assert (
        wrap("postgres", "boss", "clerk")
        == 'SELECT _qsql_0."name" FROM "sales"."customers" AS _qsql_0'
    )
    masked: dict[str, Any] = {"boss": {"masked_columns": ["sales.customers.name"]}}
    assert wrap("postgres", "boss", "seller", **masked) == (
        'SELECT CASE WHEN _qsql_0."id" = ANY(CAST($1 AS bigint[])) THEN _qsql_0."name" ELSE '
        'CAST(NULL AS text) END AS "name" FROM "sales"."customers" AS _qsql_0 ORDER BY _qsql_0."id"'
    )


def test_a_list_is_written_as_each_database_takes_it() -> None:
    table = '"sales"."customers" AS _qsql_0 WHERE'
    first = 'SELECT _qsql_0."name" FROM'
    assert wrap("duckdb", "seller") == (
        f'{first} {table} LIST_CONTAINS(CAST($1 AS bigint[]), _qsql_0."id") OFFSET 0'
    )
    assert wrap("sqlite", "seller") == (
        f"{first} {table} _qsql_0.`id` IN (?1, ?2) LIMIT -1 OFFSET 0"
    )


OPEN = replace(
    build_table("sales.open_orders", "id integer", "total numeric", kind="view"),
    definition="SELECT id, total FROM sales.orders -- the open ones\nWHERE status = 'open'",
)
VISIBLE = ["sales.customers", "sales.orders", "sales.open_orders"]


def expand(definition: str, **changes: Any) -> GuardedQuery | Violation:
    view = replace(OPEN, definition=definition)
    compiled = compile_shop(
        replace(SHOP, tables=(*SHOP.tables, view)),
        clerk={"tables": {"visible": VISIBLE}, **changes},
    )
    return guard_query("SELECT id FROM open_orders", find_access("clerk", compiled=compiled))


def test_a_view_is_its_query_behind_a_barrier_where_it_has_a_filter() -> None:
    plain = expect(GuardedQuery, expand(OPEN.definition))
    assert '_qsql_0."id" FROM (SELECT id, total FROM ((SELECT ' in plain.sql
    assert "--" not in plain.sql
    grouped = expect(GuardedQuery, expand("SELECT id, total FROM sales.orders GROUP BY id"))
    assert 'GROUP BY id, "orders"."total"' in grouped.sql


@pytest.mark.parametrize(("definition", "said"), load_changes("unread_views"))
def test_a_view_that_cannot_be_read_is_not_shown(definition: str, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        expand(definition)
