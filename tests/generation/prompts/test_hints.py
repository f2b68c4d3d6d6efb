"""What stands between the schema and the question, and what never gets there."""

from __future__ import annotations

import pytest

from generation.prompts.hints import render_example, render_hints, render_notes
from nl2sql.types import FewShot, Plan, SchemaLink, SchemaLinks, ValueMatch
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


def test_an_example_reads_like_the_question_and_its_answer() -> None:
    text = render_example(FewShot("How\nmany $x?", " SELECT count(*)\nFROM orders\n"))
    assert text == "Question: How many $x?\n```sql\nSELECT count(*)\nFROM orders\n```\n\n"


LINKED = Plan(
    SchemaLinks(
        (
            SchemaLink("cancelled", "sales.orders", "status", 1.0),
            SchemaLink("orders", "sales.orders", "", 1.0),
            SchemaLink("seller", "sales.orders", "seller_id", 0.9),
            SchemaLink("name", "sales.customers", "name", 0.9),
        )
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


def test_of_a_database_that_is_shown_whole_the_schema_tells_the_comments() -> None:
    assert render_notes(build_context(catalog_tables=2), LINKED) == ""


def test_no_more_than_four_are_told() -> None:
    places = [f"sales.orders.{name}" for name in ("status", "total", "placed_at")]
    places += [f"stock.products.{name}" for name in ("name", "category", "price", "tags")]
    places += [f"sales.customers.{name}" for name in ("name", "country")]
    links = tuple(
        SchemaLink("x", table, column, 1.0)
        for table, _, column in (place.rpartition(".") for place in places)
    )
    context = build_context(catalog_tables=90, glosses=tuple((place, "x") for place in places))
    lines = render_notes(context, Plan(SchemaLinks(links))).splitlines()
    assert len(lines) == 4
    assert lines[-1].startswith("-- products.name: ")


def test_required_tables_are_named() -> None:
    context = build_context(required=("stock.returns", "sales.orders"))
    text = render_hints(build_question(), context)
    assert text == "The query must read: returns, orders\n"
