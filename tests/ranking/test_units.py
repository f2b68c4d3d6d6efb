"""Units of outputs: only where a comment or a name tells them."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Column, Table
from nl2sql.types import ResultSet, RetrievedTable, SchemaContext
from ranking.display import add_units
from ranking.query import read_candidate
from tests.golden import load_changes

SALES = Table(
    "s",
    "sales",
    (
        Column("id", "int"),
        Column("qty", "int", comment="Units sold"),
        Column("amt", "numeric", comment="Line total after discount, EUR; never empty"),
        Column("tax", "numeric", comment="Value-added tax, EUR"),
        Column("fee_usd", "numeric"),
        Column("price", "numeric", comment="Price of one unit"),
        Column("weight_kg", "numeric"),
        Column("lead_days", "int"),
        Column("discount_pct", "numeric", comment="Discount on the line, percent"),
        Column("currency_code", "text", comment="Currency of the order"),
        Column("foreign_amt", "numeric", comment="In the currency of the order, not in EUR"),
        Column("rate", "numeric", comment="EUR for one unit of the currency"),
        Column("hours", "numeric", comment="Capacity in hours a week"),
    ),
)
CONTEXT = SchemaContext((RetrievedTable(SALES, 1.0),), (), ("sales",))


def find(sql: str) -> tuple[str, ...]:
    names = tuple(f"c{at}" for at in range(sql.partition(" FROM ")[0].count(",") + 1))
    return add_units(ResultSet(names, names, (), False, 1.0), read_candidate(sql, CONTEXT)).units


@pytest.mark.parametrize(("sql", "units"), load_changes("units", "told"))
def test_a_unit_that_is_told(sql: str, units: str) -> None:
    assert ", ".join(unit or "-" for unit in find(sql)) == units


@pytest.mark.parametrize(("sql", "why"), load_changes("units", "none"))
def test_what_has_no_unit(sql: str, why: str) -> None:
    assert not any(find(sql)), why
