"""What is wrong with definitions is found before a question needs them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from nl2sql.catalog import Column
from nl2sql.types import GuardedQuery
from retrieval.semantics.semantics_file import load_semantics
from serve_app.composition.wiring import Wiring
from serve_app.operations.checks.databases import check_definitions as check_fit
from serve_app.operations.semantics import check_definitions, guard_definitions
from tests.fakes import SHOP, build_settings
from tests.retrieval.semantics.files import build_file


def test_names_and_what_the_guard_refuses_are_said_together() -> None:
    file = build_file(
        measures={
            "revenue": "sum(orders.total)",
            "slow": "sum(orders.total) where pg_sleep(orders.total) is null",
            "wrong": "sum(order.total)",
        }
    )
    passed, problems = guard_definitions(Wiring(build_settings()), file, SHOP)
    ((place, query),) = passed
    assert place == ("measures", "revenue")
    assert isinstance(query, GuardedQuery)
    assert query.tables == ("sales.orders",)
    wrong, slow = map(file.describe, problems)
    assert wrong.startswith("semantics.yaml: measures.wrong.expression: there is no table 'order'")
    assert slow.startswith("semantics.yaml: measures.slow: the guard refuses it: ")


SHOP_SQL = """
CREATE TABLE customers (id integer PRIMARY KEY, country text);
CREATE TABLE orders (
  id integer PRIMARY KEY, total numeric, customer_id integer REFERENCES customers (id)
);
"""


@pytest.fixture
def wiring(tmp_path: Path) -> Wiring:
    """A database in an SQLite file, with a file of definitions that tests write."""
    path = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SHOP_SQL)
    shop = {
        "reader": {"url": f"sqlite:///{path}"},
        "semantics": str(tmp_path / "semantics.yaml"),
    }
    return Wiring(build_settings(databases={"shop": shop}))


def write(folder: Path, **sections: object) -> Path:
    path = folder / "semantics.yaml"
    path.write_text(yaml.safe_dump({"version": 1, **sections}), encoding="utf-8")
    return path


async def test_the_database_is_asked_too(wiring: Wiring, tmp_path: Path) -> None:
    revenue = "sum(orders.total) where customers.country = 'DE'"
    file = load_semantics(write(tmp_path, measures={"revenue": revenue}))
    catalog = wiring.source("shop").read_catalog()
    assert await check_definitions(wiring, file, catalog) == (1, ())
    # Guarded by the schema as it was indexed, which the database no longer has.
    orders = catalog.table("main.orders")
    assert orders is not None
    renamed = replace(orders, columns=(*orders.columns, Column("gone", "numeric")))
    tables = (*(table for table in catalog.tables if table is not orders), renamed)
    file = load_semantics(write(tmp_path, measures={"revenue": "sum(orders.gone)"}))
    count, (problem,) = await check_definitions(wiring, file, replace(catalog, tables=tables))
    assert count == 1
    assert file.describe(problem).startswith(
        "semantics.yaml, line 2: measures.revenue: the database refuses it: no such column"
    )


def test_doctor_says_whether_the_definitions_fit(wiring: Wiring, tmp_path: Path) -> None:
    path = write(
        tmp_path, filters={"new": "orders.id > 100", "Germans": "customers.country = 'DE'"}
    )
    check = check_fit(wiring, "shop", path)
    assert (check.status, check.message) == ("ok", "2 fit the schema")
    write(tmp_path, filters={"new": "orders.x > 1", "old": "orders.y > 1"})
    check = check_fit(wiring, "shop", path)
    assert check.status == "failed"
    assert check.message == (
        "semantics.yaml, line 2: filters.new.condition: main.orders has no column 'x' and 1 more"
    )
    assert check.remedy == "quorumsql semantics shop"
    assert check_fit(wiring, "shop", tmp_path / "gone.yaml").status == "failed"
