"""What stands between the schema and the question, and what never gets there."""

from __future__ import annotations

import pytest

from generation.hints import render_example, render_hints
from nl2sql.types import FewShot, Plan, ValueMatch
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
    assert render_hints(QUESTION, context, Plan()) == ""


def test_a_value_is_told_as_sql_spells_it() -> None:
    context = build_context(
        tables=("sales.customers",),
        values=(
            match("sales.customers", "Loyalty Tier", "Gold's", "gold"),
            match("sales.customers", "country", "Germany", "Germany"),
        ),
    )
    assert render_hints(QUESTION, context, Plan()).splitlines() == [
        "customers.\"Loyalty Tier\" holds 'Gold''s' (the question says \"gold\")",
        "customers.country holds 'Germany'",
    ]


def test_an_example_reads_like_the_question_and_its_answer() -> None:
    text = render_example(FewShot("How\nmany $x?", " SELECT count(*)\nFROM orders\n"))
    assert text == "Question: How many $x?\n```sql\nSELECT count(*)\nFROM orders\n```\n\n"


def test_limits_of_rows_are_told_of_tables_that_are_shown() -> None:
    rules = (
        ("sales.customers", "country = 'DE'"),
        ("sales.orders", ""),
        ("stock.returns", "x = 1"),
    )
    context = build_context(
        tables=("sales.customers", "sales.orders", "stock.products"), row_rules=rules
    )
    assert render_hints(QUESTION, context, Plan()) == (
        "Already limited to the rows that the user may see, add no filter for it: "
        "customers (country = 'DE'), orders\n"
    )
    left_out = render_hints(QUESTION, context, Plan(), ("sales.customers",))
    assert left_out.endswith("for it: orders\n")
