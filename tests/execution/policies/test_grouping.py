"""GROUP BY on a primary key, where a derived table without a key has taken the table's place."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execution.allowlists import load_allowlist
from execution.guard.guard import guard_query
from nl2sql.types import GuardedQuery
from tests.execution.expecting import expect
from tests.execution.policies.shop import compile_shop, find_access
from tests.fakes import SHOP, build_table


def test_a_function_that_is_called_like_the_key_is_not_the_key() -> None:
    table = build_table("stock.limits", "LOWER integer", "name text", key=("LOWER",))
    compiled = compile_shop(
        replace(SHOP, tables=(*SHOP.tables, table)), shared=["stock.products", "stock.limits"]
    )
    allowed = load_allowlist("postgres")
    extended = replace(allowed, functions=allowed.functions | {"LOWER"})
    sql = "SELECT name FROM limits GROUP BY \"LOWER\"('A')"
    verdict = guard_query(sql, find_access("clerk", compiled=compiled), extended)
    assert isinstance(verdict, GuardedQuery), verdict
    assert '"name"' not in verdict.sql.rpartition(" GROUP BY ")[2]


def test_what_cannot_be_grouped_by_is_not() -> None:
    columns = ("id integer", "name text", "data json", "area polygon", "more jsonb")
    table = build_table("stock.sheets", *columns, key=("id",))
    compiled = compile_shop(
        replace(SHOP, tables=(*SHOP.tables, table)), shared=["stock.products", "stock.sheets"]
    )
    access = find_access("clerk", compiled=compiled)
    sql = "SELECT id, name, more, count(data) FROM sheets GROUP BY id"
    verdict = expect(GuardedQuery, guard_query(sql, access))
    clause = verdict.sql.rpartition(" GROUP BY ")[2]
    assert clause == 'id, "sheets"."more", "sheets"."name"'


@pytest.mark.parametrize(
    ("query", "grouped"),
    [
        # PostgreSQL keeps the column that it need not convert.
        ("customers AS a JOIN wide AS b USING (id)", 'id, "b"."word"'),
        ("wide AS b JOIN customers AS a USING (id) JOIN orders AS c USING (id)", 'id, "b"."word"'),
        ("wide AS b LEFT JOIN customers AS a USING (id)", 'id, "b"."word"'),
        ("customers AS a LEFT JOIN wide AS b USING (id)", "id"),
        ("wide AS b RIGHT JOIN customers AS a USING (id)", "id"),
    ],
)
def test_a_key_after_using_is_that_of_the_wider_number(query: str, grouped: str) -> None:
    table = build_table("stock.wide", "id bigint", "word text", key=("id",))
    catalog = replace(SHOP, tables=(*SHOP.tables, table))
    access = find_access("clerk", compiled=compile_shop(catalog, shared=["stock.wide"]))
    sql = f"SELECT id, a.name, word FROM {query} GROUP BY id"
    verdict = expect(GuardedQuery, guard_query(sql, access))
    assert verdict.sql.rpartition(" GROUP BY ")[2] == grouped


MASKED = ["sales.customers.id", "sales.orders.total"]
KEY = 'id, "customers"."name"'


@pytest.mark.parametrize(
    ("roles", "clerk", "boss", "grouped"),
    [
        (("clerk",), {"masked_columns": MASKED}, {}, "id"),
        (("clerk",), {"masked_columns": ["sales.customers.name"]}, {}, KEY),
        # What one role sees of every row is no mask to who has both.
        (("boss", "clerk"), {"masked_columns": MASKED}, {}, KEY),
        (("boss", "clerk"), {"masked_columns": MASKED}, {"masked_columns": MASKED}, "id"),
        (("boss", "clerk"), {}, {"masked_columns": MASKED}, "id"),
        (("boss", "clerk"), {}, {"hidden_columns": ["sales.customers.id"]}, "id"),
    ],
    ids=["masked", "other", "open", "both", "rows_of_the_other", "hidden_from_the_other"],
)
def test_a_key_that_is_masked_is_none(
    roles: tuple[str, ...], clerk: dict[str, object], boss: dict[str, object], grouped: str
) -> None:
    access = find_access(*roles, compiled=compile_shop(clerk=clerk, boss=boss))
    verdict = guard_query("SELECT id, name FROM customers GROUP BY id", access)
    assert isinstance(verdict, GuardedQuery), verdict
    assert verdict.sql.rpartition(" GROUP BY ")[2] == grouped
