"""Invented names put right, and everything that must be left alone."""

from __future__ import annotations

import pytest

from nl2sql.types import Violation
from repair.autocorrect import autocorrect_names
from repair.repairer import describe_columns
from tests.fakes import build_assessment, build_context, build_diagnostic


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "SELECT customer_name FROM customers",
            "SELECT customers.name FROM customers",
            id="the table's name before the column's",
        ),
        pytest.param(
            "SELECT o.order_id FROM orders AS o",
            "SELECT o.id FROM orders AS o",
            id="the same under an alias",
        ),
        pytest.param(
            "SELECT status_code FROM orders",
            "SELECT orders.status FROM orders",
            id="an empty word behind the column's name",
        ),
        pytest.param(
            "SELECT o.country FROM orders AS o JOIN customers AS c ON c.id = o.customer_id",
            "SELECT c.country FROM orders AS o JOIN customers AS c ON c.id = o.customer_id",
            id="asked of the wrong table",
        ),
        pytest.param(
            "SELECT id FROM orders JOIN customers ON customers.id = orders.customer_id",
            "SELECT orders.id FROM orders JOIN customers ON customers.id = orders.customer_id",
            id="ambiguous",
        ),
        pytest.param("SELECT name FROM customer", "SELECT name FROM customers", id="singular"),
        pytest.param(
            "SELECT customer.name FROM customer",
            "SELECT customers.name FROM customers",
            id="singular, with its columns",
        ),
        pytest.param(
            "SELECT loyalty FROM customers",
            'SELECT customers."Loyalty Tier" FROM customers',
            id="a name that needs quotes",
        ),
        pytest.param(
            "SELECT name FROM customers WHERE id IN (SELECT customer_name FROM customers)",
            "SELECT name FROM customers WHERE id IN (SELECT customers.name FROM customers)",
            id="in a subquery",
        ),
    ],
)
def test_a_name_that_can_mean_only_one_is_put_right(before: str, after: str) -> None:
    assert autocorrect_names(before, build_context()) == after


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("SELECT name FROM customers", id="right already"),
        pytest.param("SELECT email FROM customers", id="nothing like it"),
        pytest.param("SELECT customer_number FROM customers", id="a number is not a name"),
        pytest.param("SELECT count(*) AS n FROM orders ORDER BY n", id="an output's alias"),
        pytest.param("SELECT x.nope FROM (SELECT 1 AS a) AS x", id="a derived table"),
        pytest.param("WITH w AS (SELECT 1 AS a) SELECT nope FROM w", id="a CTE"),
        pytest.param("SELECT nope FROM elsewhere", id="an unknown table"),
        pytest.param("SELECT z.name FROM customers AS c", id="an unknown alias"),
        pytest.param("not sql at all (", id="no SQL"),
        pytest.param("SELECT " + "(" * 2000 + "1" + ")" * 2000, id="too deep"),
    ],
)
def test_everything_else_is_left_alone(sql: str) -> None:
    assert autocorrect_names(sql, build_context()) is None


def test_the_model_is_told_the_columns_of_the_tables_it_used() -> None:
    verdict = Violation("unknown_column", "", "There is no column nope.")
    failed = build_assessment(sql="SELECT nope FROM products", verdict=verdict)
    text = describe_columns(failed, build_context())
    assert "products has only these columns: id, name, category, price, tags." in text
    assert "customers" not in text


def test_no_columns_are_told_where_names_were_not_the_trouble() -> None:
    failed = build_assessment(
        sql="SELECT 1 FROM products", diagnostic=build_diagnostic(sqlstate="22012")
    )
    assert describe_columns(failed, build_context()) == ""
