"""Units of outputs: only where a comment, a name, a definition or a currency column tells them."""

from __future__ import annotations

import pytest

from nl2sql.catalog import Column, Table
from nl2sql.types import Definition, ResultSet, RetrievedTable, SchemaContext
from ranking.units import add_units

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


def find(sql: str, *rows: tuple[object, ...], context: SchemaContext = CONTEXT) -> tuple[str, ...]:
    width = len(rows[0]) if rows else sql.partition(" FROM ")[0].count(",") + 1
    names = tuple(f"c{at}" for at in range(width))
    return add_units(ResultSet(names, names, rows, False, 1.0), sql, context).units


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


def test_the_one_currency_of_the_rows_is_that_of_the_amounts() -> None:
    sql = "SELECT currency_code, SUM(foreign_amt), MAX(price) FROM sales GROUP BY 1"
    assert find(sql, ("PLN", 5, 1)) == ("", "PLN", "")
    assert find(sql, ("PLN", 5, 1), ("USD", 7, 1)) == ()
    assert find(sql, ("zloty", 5, 1)) == ()
    assert find(sql, ({"code": "PLN"}, 5, 1)) == ()
    # The greatest code says nothing of the others that are in the sum.
    mixed = "SELECT MAX(currency_code), SUM(foreign_amt), SUM(foreign_amt) OVER () FROM sales"
    assert find(mixed, ("PLN", 5, 5)) == ()
    assert find(sql) == ()


def test_a_definition_tells_the_unit_of_its_figure() -> None:
    expression = "SUM(qty * price)"
    definition = Definition(
        kind="measure",
        name="stock value",
        phrase="stock value",
        expression=expression,
        condition="",
        tables=("s.sales",),
        columns=("s.sales.qty", "s.sales.price"),
        query=f"SELECT {expression} FROM sales",
        description="Stock at standard cost, EUR",
    )
    context = SchemaContext(CONTEXT.tables, (), CONTEXT.names, definitions=(definition,))
    assert find(f"SELECT {expression} FROM sales", context=context) == ("EUR",)
    assert find("SELECT SUM(qty) FROM sales", context=context) == ()
    assert find(f"SELECT {expression}, COUNT(*) FROM sales", context=context) == ()
