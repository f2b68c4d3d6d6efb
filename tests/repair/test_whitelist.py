"""What may stand in the place of a name that is not there, and what is never swapped in silence."""

from __future__ import annotations

import pytest

from repair.autocorrect import autocorrect_query
from repair.whitelist import describe_allowed, find_risks, is_risky, list_allowed, swapped_names
from tests.fakes import SHOP, build_context, build_table
from tests.golden import load_cases
from tests.repair.autocorrect.golden_tables import build_golden_context

CONTEXT = build_context()
ACCOUNTS = build_context(
    catalog=type(SHOP)(
        "bank", (build_table("public.accounts", "id integer", "account_number text"),)
    )
)


def test_only_columns_of_the_table_and_its_neighbours_are_allowed() -> None:
    (allowed,) = list_allowed("SELECT o.countri FROM orders AS o", CONTEXT)
    assert allowed.name == "o.countri"
    tables = {column.table.name for column in allowed.columns}
    assert tables == {"orders", "customers", "employees", "order_lines"}
    best = allowed.columns[0]
    assert (best.table.name, best.column) == ("customers", "country")


def test_of_a_table_that_is_not_there_the_tables_in_sight_are_allowed() -> None:
    allowed = list_allowed("SELECT 1 FROM order_line_items", CONTEXT)
    assert allowed[0].tables[0].name == "order_lines"


def test_the_model_reads_what_it_may_use() -> None:
    (line,) = describe_allowed("SELECT o.customer_name FROM orders AS o", CONTEXT)
    assert line.startswith("There is no column o.customer_name. Only these may be used: ")
    assert "customers.name" in line
    assert "orders.customer_id (another kind of value)" in line
    (line,) = describe_allowed("SELECT 1 FROM invoices", CONTEXT)
    assert line.startswith("There is no table invoices. Only these may be used: ")


@pytest.mark.parametrize("sql", [sql for _, sql in load_cases("known_names")])
def test_where_every_name_is_there_nothing_is_listed(sql: str) -> None:
    assert describe_allowed(sql, CONTEXT) == ()


@pytest.mark.parametrize(
    ("asked", "real"),
    [
        ("account_name", "account_number"),
        ("customer_id", "customer_name"),
        ("order_code", "order_date"),
        ("unit_price", "unit_count"),
    ],
)
def test_a_risk_pair_is_told_whichever_way_round(asked: str, real: str) -> None:
    assert is_risky(asked, real)
    assert is_risky(real, asked)


def test_a_risk_pair_is_never_swapped_however_alike() -> None:
    assert autocorrect_query("SELECT account_num_name FROM accounts", ACCOUNTS) is None
    sql = "SELECT account_numbers_name FROM accounts"
    assert autocorrect_query(sql, ACCOUNTS, rules=(swapped_names,)) is None


def test_a_risk_that_the_model_took_is_found() -> None:
    before = "SELECT c.customer_number FROM customers AS c"
    assert find_risks(before, "SELECT c.customer_name FROM customers AS c", "postgres") == (
        "customer_number → customer_name",
    )
    assert find_risks(before, before, "postgres") == ()
    assert find_risks(before, "no sql (", "postgres") == ()


def test_a_hidden_column_is_in_no_list() -> None:
    """A context holds what the principal may see; a list is made of nothing else."""
    context = build_golden_context()
    listed = {
        f"{column.table.qualified}.{column.column}"
        for allowed in list_allowed("SELECT salary FROM employees", context)
        for column in allowed.columns
    }
    shown = {
        f"{hit.table.qualified}.{column.name}"
        for hit in context.tables
        for column in hit.table.columns
    }
    assert listed
    assert listed <= shown
