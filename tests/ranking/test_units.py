"""Units of outputs: only where a comment or a name tells them."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Column, Table
from nl2sql.types import ResultSet, RetrievedTable, SchemaContext
from ranking.display import add_units
from ranking.query import read_candidate

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


@pytest.mark.parametrize(
    ("sql", "units"),
    [
        ("SELECT amt FROM sales", ("EUR",)),
        ("SELECT id, SUM(amt) AS revenue FROM sales GROUP BY id", ("", "EUR")),
        ("SELECT ROUND(AVG(s.amt)::numeric) FROM sales s", ("EUR",)),
        ("SELECT SUM(amt) + SUM(tax) FROM sales", ("EUR",)),
        ("SELECT ABS(SUM(amt) FILTER (WHERE id > 1)) FROM sales", ("EUR",)),
        ("SELECT MAX(fee_usd) FROM sales", ("USD",)),
        ("SELECT SUM(weight_kg) FROM sales", ("kg",)),
        ("SELECT AVG(discount_pct) FROM sales", ("%",)),
        ("SELECT t.total FROM (SELECT amt AS total FROM sales) AS t", ("EUR",)),
    ],
)
def test_a_unit_that_is_told(sql: str, units: tuple[str, ...]) -> None:
    assert find(sql) == units


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT price FROM sales", id="nothing is told"),
        pytest.param("SELECT COUNT(amt) FROM sales", id="a count of amounts"),
        pytest.param("SELECT SUM(amt) / SUM(tax) FROM sales", id="a ratio of amounts"),
        pytest.param("SELECT SUM(amt) / COUNT(*) FROM sales", id="a quotient"),
        pytest.param("SELECT SUM(amt * tax) FROM sales", id="a product of amounts"),
        pytest.param("SELECT SUM(weight_kg * 1000) FROM sales", id="converted"),
        pytest.param("SELECT SUM(amt * discount_pct) FROM sales", id="a share of amounts"),
        pytest.param("SELECT SUM(amt) + SUM(fee_usd) FROM sales", id="two currencies"),
        pytest.param("SELECT SUM(discount_pct) FROM sales", id="a sum of percents"),
        pytest.param("SELECT VARIANCE(amt) FROM sales", id="a square"),
        pytest.param("SELECT foreign_amt FROM sales", id="in a currency that is not named"),
        pytest.param("SELECT rate FROM sales", id="a rate"),
        pytest.param("SELECT hours FROM sales", id="hours a week"),
        pytest.param("SELECT lead_days FROM sales", id="no sign for all languages"),
        pytest.param("SELECT other FROM unknown", id="an unknown table"),
        pytest.param("SELECT *, amt FROM sales", id="a star"),
        pytest.param("SELECT (", id="no query"),
    ],
)
def test_what_has_no_unit(sql: str) -> None:
    assert not any(find(sql))
