"""Texts from outside the database: put where there is no comment, and nowhere else."""

from __future__ import annotations

from retrieval.indexing.job import describe_catalog
from tests.fakes import SHOP


def test_comments_of_the_database_stay() -> None:
    described = describe_catalog(
        SHOP, {"Orders": "ours", "EMPLOYEES": "people", "orders.ID": "number\n of it", "x.y": "no"}
    )
    orders, employees = (described.resolve(name) for name in ("orders", "employees"))
    assert orders is not None
    assert employees is not None
    assert orders.comment == "What customers ordered"
    assert employees.comment == "people"
    column = orders.column("id")
    assert column is not None
    assert column.comment == "number of it"


def test_no_description_changes_nothing() -> None:
    assert describe_catalog(SHOP, {}) is SHOP
