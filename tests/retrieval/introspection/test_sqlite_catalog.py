"""Reading the schema of an SQLite file."""

from __future__ import annotations

from pathlib import Path

import pytest

from nl2sql.catalog import Catalog, Column, ForeignKey
from tests.execution.sqlite.shop import build_shop


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "odd.sqlite"


@pytest.fixture
def shop(path: Path) -> Catalog:
    return build_shop(path)


def test_reads_columns_as_they_were_declared(shop: Catalog) -> None:
    customers = shop.table("main.customers")
    assert customers is not None
    assert customers.columns == (
        Column("id", "INTEGER"),
        Column("Name", "TEXT", nullable=False),
        Column("country", "TEXT"),
        Column("Loyalty Tier", "VARCHAR(10)"),
        Column("joined", "DATE"),
    )
    employees = shop.table("main.employees")
    assert employees is not None
    assert employees.columns[-1] == Column("note", "")


def test_reads_foreign_keys_in_the_spelling_of_the_tables(shop: Catalog) -> None:
    assert set(shop.foreign_keys) == {
        ForeignKey("Orders_0", "main.Orders", ("seller_id",), "main.employees", ("id",)),
        # No columns were named: the target's primary key is meant.
        ForeignKey("Orders_1", "main.Orders", ("customer_id",), "main.customers", ("id",)),
        ForeignKey("employees_0", "main.employees", ("manager_id",), "main.employees", ("id",)),
        ForeignKey("order_lines_0", "main.order_lines", ("order_id",), "main.Orders", ("id",)),
        ForeignKey(
            "returns_0",
            "main.returns",
            ("line_no", "order_id"),
            "main.order_lines",
            ("line_no", "order_id"),
        ),
    }
