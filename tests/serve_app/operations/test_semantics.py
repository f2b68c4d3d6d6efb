"""What the doctor says of definitions."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import yaml

from serve_app.composition.wiring import Wiring
from serve_app.operations.checks.databases import check_definitions
from tests.fakes import build_settings

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


def test_doctor_says_whether_the_definitions_fit(wiring: Wiring, tmp_path: Path) -> None:
    path = write(
        tmp_path, filters={"new": "orders.id > 100", "Germans": "customers.country = 'DE'"}
    )
    check = check_definitions(wiring, "shop", path)
    assert (check.status, check.message) == ("ok", "2 fit the schema")
    write(tmp_path, filters={"new": "orders.x > 1", "old": "orders.y > 1"})
    check = check_definitions(wiring, "shop", path)
    assert check.status == "failed"
    assert check.message == (
        "semantics.yaml, line 2: filters.new.condition: main.orders has no column 'x' and 1 more"
    )
    assert check.remedy == "quorumsql semantics shop"
    assert check_definitions(wiring, "shop", tmp_path / "gone.yaml").status == "failed"
