"""Which tables and columns a query reads."""

from __future__ import annotations

import pytest

from evaluation.metrics.gold_schema import find_gold_schema
from nl2sql.catalog import Catalog, Column, Table
from tests.golden import ARROW, load_cases


def build_table(schema: str, name: str, *columns: str) -> Table:
    return Table(schema, name, tuple(Column(column, "text") for column in columns))


SHOP = Catalog(
    "shop",
    (
        build_table("sales", "orders", "id", "customer_id", "amt"),
        build_table("sales", "customers", "id", "name"),
        build_table("hr", "people", "id", "name", "Full Name"),
    ),
    search_path=("sales", "hr"),
)
ORDERS = ("sales.orders.amt", "sales.orders.customer_id", "sales.orders.id")

CONCERTS = Catalog(
    "concerts",
    (
        build_table("main", "Singer", "Singer_ID", "Name", "Country"),
        build_table("main", "concert", "Singer_ID", "Year"),
    ),
    search_path=("main",),
    dialect="sqlite",
)


@pytest.mark.parametrize(("dialect", "case"), [*load_cases("gold_schema"), ("postgres", "")])
def test_what_a_query_reads(dialect: str, case: str) -> None:
    sql, _, read = case.partition(ARROW)
    found = find_gold_schema(sql, SHOP if dialect == "postgres" else CONCERTS)
    tables, _, columns = read.partition(":")
    assert [" ".join(names) for names in found] == [tables.strip(), columns.strip()]
