"""What questions let their answers look like. Each row is a question as people ask them."""

from __future__ import annotations

import pytest

from nl2sql.expectations.asked_columns import count_columns, list_outputs
from nl2sql.expectations.expectations import Expectations, read_expectations
from nl2sql.expectations.said_texts import is_said
from tests.golden import load_changes


@pytest.mark.parametrize(("question", "fitting"), [*load_changes("asked_columns"), ("", "-")])
def test_the_columns_that_a_question_asks_for(question: str, fitting: str) -> None:
    assert (" ".join(map(str, count_columns(question))) or "-") == fitting


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many singers are there?", Expectations(columns=(1,))),
        ("Count the orders per country.", Expectations(grouped=True)),
        ("How many orders has each customer?", Expectations(grouped=True)),
        ("Show the name of each customer.", Expectations(columns=(1, 2))),
        ("Show the top 5 customers by total.",
         Expectations(columns=(1,), rows=5, best=True, highest=True)),
        ("Show the top 5 customers by rank.",
         Expectations(columns=(1,), rows=5, best=True)),
        ("Show the bottom two customers.",
         Expectations(columns=(1,), rows=2, best=True, highest=False)),
        ("List the three oldest employees.",
         Expectations(columns=(1,), rows=3, best=True)),
        ("Which product has the highest price?",
         Expectations(columns=(1,), best=True, highest=True)),
        ("Show the name of customers sorted by country.",
         Expectations(columns=(1,))),
        ("List the distinct countries of customers.", Expectations(columns=(1,), distinct=True)),
        ("Which customers have no orders?", Expectations(columns=(1,), negated=True)),
        ("Which customers didn't order?", Expectations(columns=(1,), negated=True)),
        ("Show the name of customers, most orders first.",
         Expectations(columns=(1,), descending=True)),
        ("Show the name of customers from the lowest to the highest total.",
         Expectations(columns=(1,), descending=False)),
        ("Show the names of the five customers with the highest total, highest total first.",
         Expectations(rows=5, best=True, highest=True,
                      descending=True)),
        ("Show the name of customers in descending order of age.",
         Expectations(columns=(1,), descending=True)),
        ("Show the name of customers in reversed alphabetical order.",
         Expectations(columns=(1,))),
        ("What is the minimum and maximum total?",
         Expectations(columns=(2,), best=True)),
        ("What is the id of all customers?", Expectations(columns=(1,))),
        ("What are the names of products ordered?", Expectations(columns=(1,))),
        ("What is the price per minute of calls?", Expectations(columns=(1, 2))),
        ("Customers that do not have more than 3 orders",
         Expectations(negated=True)),
        ("Who has the latest order? And how many are there?",
         Expectations(best=True, parts=2)),
        ("Welche Kunden gibt es?", Expectations()),
        ("", Expectations()),
    ],
)  # fmt: skip
def test_what_a_question_expects(question: str, expected: Expectations) -> None:
    assert read_expectations(question) == expected


@pytest.mark.parametrize(
    ("question", "outputs"),
    [
        ("What are the names and home cities of all singers?", (("name",), ("home", "city"))),
        ("Show the number of orders per customer.", (("number", "order"),)),
        ("Which document type is short?", (("document", "type"),)),
        ("Show all information about orders.", ()),
        ("How many singers are there?", ()),
        ("Who sang best?", ()),
    ],
)
def test_the_things_that_a_question_lists(
    question: str, outputs: tuple[tuple[str, ...], ...]
) -> None:
    assert list_outputs(question) == outputs


@pytest.mark.parametrize(
    ("question", "decimals"),
    [
        ("What is the average score, rounded to two decimals?", 2),
        ("What percentage was cancelled? Round to 1 decimal place.", 1),
        ("Show the name and the salary rounded to whole euros, highest first.", 0),
        ("Show the day rounded to the nearest hour.", 0),
        ("What is the average pay, rounded to the nearest 100?", None),
        ("What is the average pay, rounded to the nearest hundredths?", 2),
        ("Show name and share, cheapest first.", None),
        ("Which round had the most decimals?", None),
    ],
)
def test_the_rounding_that_a_question_asks_for(question: str, decimals: int | None) -> None:
    assert read_expectations(question).decimals == decimals


@pytest.mark.timeout(60)
def test_many_texts_are_looked_for_in_a_long_question_at_once() -> None:
    question = " ".join(map(str, range(1000, 1800)))
    assert sum(is_said(str(number), question) for number in range(100_000)) == 800
