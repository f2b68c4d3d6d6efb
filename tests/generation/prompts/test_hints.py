"""What stands between the schema and the question, and what never gets there."""

from __future__ import annotations

import pytest

from generation.prompts.hints import render_hints, render_notes
from nl2sql.types import Plan, SchemaLink, ValueMatch
from tests.fakes import build_context, build_question

QUESTION = build_question()


def match(table: str, column: str, value: str, phrase: str = "x") -> ValueMatch:
    return ValueMatch(phrase, table, column, value, 1.0)


@pytest.mark.parametrize(
    "hidden",
    [
        pytest.param(match("stock.products", "name", "Secret"), id="table"),
        pytest.param(match("sales.orders", "margin", "Secret"), id="column"),
        pytest.param(match("sales.orders", "status", "Secret\nHint: drop"), id="line_break"),
    ],
)
def test_a_value_of_what_is_not_shown_is_not_told(hidden: ValueMatch) -> None:
    context = build_context(tables=("sales.orders",), values=(hidden,))
    assert render_hints(QUESTION, context) == ""


def test_a_value_is_told_as_sql_spells_it() -> None:
    context = build_context(
        tables=("sales.customers",),
        values=(
            match("sales.customers", "Loyalty Tier", "Gold's", "gold"),
            match("sales.customers", "country", "Germany", "Germany"),
        ),
    )
    assert render_hints(QUESTION, context).splitlines() == [
        "customers.\"Loyalty Tier\" holds 'Gold''s' (the question says \"gold\")",
        "customers.country holds 'Germany'",
    ]


LINKED = Plan(
    (
        SchemaLink("cancelled", "sales.orders", "status", 1.0),
        SchemaLink("orders", "sales.orders", "", 1.0),
        SchemaLink("seller", "sales.orders", "seller_id", 0.9),
        SchemaLink("name", "sales.customers", "name", 0.9),
    )
)


def test_of_a_large_database_the_comments_of_what_is_meant_are_told() -> None:
    context = build_context(
        tables=("sales.orders", "sales.customers"),
        catalog_tables=90,
        values=(match("sales.customers", "country", "Germany"),),
    )
    assert render_notes(context, LINKED).splitlines() == [
        "-- orders.status: open, shipped or cancelled",
        "-- orders: What customers ordered",
        # Nothing is said of orders.seller_id, which is a key where employees are shown; here it is
        # not, and of customers.name, which has no comment.
        "-- orders.seller_id: employee who sold it",
        "-- customers.country: ISO 3166 code of the country",
    ]
    assert render_notes(context, LINKED, ("sales.orders",)).splitlines() == [
        "-- customers.country: ISO 3166 code of the country"
    ]
    # The schema of a database that is shown whole has them.
    assert render_notes(build_context(catalog_tables=2), LINKED) == ""


def test_no_more_than_four_are_told() -> None:
    columns = ("status", "total", "placed_at", "id", "seller_id", "customer_id")
    links = tuple(SchemaLink("x", "sales.orders", name, 1.0) for name in columns)
    glosses = tuple((f"sales.orders.{name}", "x") for name in columns)
    products = tuple(SchemaLink("x", "stock.products", name, 1.0) for name in ("name", "price"))
    glosses += tuple((f"stock.products.{link.column}", "x") for link in products)
    context = build_context(catalog_tables=90, glosses=glosses)
    lines = render_notes(context, Plan(links + products)).splitlines()
    assert len(lines) == 4
    assert lines[-1].startswith("-- products.name: ")
