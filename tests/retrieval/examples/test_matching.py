"""Which questions a verified query with parameters answers, by words alone."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from nl2sql.catalog import Catalog, Column, Table
from nl2sql.types import ValueMatch
from retrieval.examples.matching import list_schema_words, match_pattern
from retrieval.examples.pairs import Pair, read_pattern
from retrieval.examples.parameters import Parameter
from tests.golden import ARROW, load_cases

CATALOG = Catalog(
    "shop",
    (
        Table("s", "orders", (Column("amt", "numeric"), Column("placed_dt", "date"))),
        Table("s", "customers", (Column("buyer_id", "int"), Column("city", "text"))),
    ),
)
YEAR = Parameter(type="integer", default="2024", min="2020", max="2026")
QUARTER = Parameter(type="integer", default="1", values=("1", "2", "3", "4"))
REGION = Parameter(type="text", default="south", values=("south", "north", "A"))
CITY = Parameter(type="text", default="Ulm", column="s.customers.city")
DAY = Parameter(type="date", default="2024-01-01")
AMOUNT = Parameter(type="number", default="5", min="0")


def match(question: str, phrasing: str, *values: ValueMatch, **parameters: Parameter) -> Any:
    names = ", ".join(f":{name}" for name in parameters)
    pair = Pair(question=phrasing, sql=f"SELECT {names}", parameters=parameters)
    return match_pattern(question, pair, values, list_schema_words(CATALOG))


REVENUE = "What was the revenue in Q:quarter :year for the :region?"


@pytest.mark.parametrize(("values", "question"), load_cases("pattern_values"))
def test_all_words_and_values_are_accounted_for(values: str, question: str) -> None:
    found = match(question, REVENUE, quarter=QUARTER, year=YEAR, region=REGION)
    names = ("quarter", "year", "region")
    assert found == (dict(zip(names, values.split(), strict=False)) or None)


@pytest.mark.parametrize(("told", "case"), load_cases("pattern_words"))
def test_words_keep_their_part(told: str, case: str) -> None:
    question, _, phrasing = case.partition(ARROW)
    assert (match(question, phrasing, year=YEAR) == {"year": "2025"}) is (told == "the same")


def test_values_are_told_apart_by_the_words_before_them() -> None:
    phrasing = "orders of more than :amount euros in :year"
    both = {"amount": AMOUNT, "year": YEAR}
    found = match("orders of more than 2,025 euros in 2024", phrasing, **both)
    assert found == {"amount": "2025", "year": "2024"}
    assert match("in 2024, orders of more than 2.50 euros", phrasing, **both)["amount"] == "2.50"
    assert match("orders of 2025 euros more than in 2024", phrasing, **both) is None
    for spelt in ("€50", "€ 50", "50 EUR", "50 €"):
        assert match(f"orders of more than {spelt} in 2024", phrasing, **both)["amount"] == "50"
    assert match("orders of more than $50 in 2024", phrasing, **both) is None
    # One, or a thousand?
    assert match("orders of more than 1.000 euros in 2024", phrasing, **both) is None
    days = match("orders from May 3rd, 2024 to 2024-06-01", "orders from :a to :b", a=DAY, b=DAY)
    assert days == {"a": "2024-05-03", "b": "2024-06-01"}
    assert match("orders from 3 May 2024", "orders on :a", a=DAY) is None
    assert match("orders on 30 February 2024", "orders on :a", a=DAY) is None
    # Who it was is not who it is.
    assert match("Who was the head of south?", "Who is the head of :a?", a=REGION) is None
    assert match("Who is the head of south?", "Who is the head of :a?", a=REGION)
    # Nothing says which is which.
    two = {"a": REGION, "b": REGION}
    assert match("orders of south, north", "orders of :a, :b", **two) is None


def test_texts_of_two_parameters_do_not_change_places() -> None:
    phrasing = "How many :ship orders have :pay invoices?"
    asked = {
        "ship": Parameter(type="text", default="open", values=("open", "shipped")),
        "pay": Parameter(type="text", default="paid", values=("paid", "unpaid")),
    }
    assert match("How many shipped orders have paid invoices?", phrasing, **asked)
    assert match("How many paid orders have open invoices?", phrasing, **asked) is None


@pytest.mark.parametrize("odd", ["orders in 2025 :year", "orders :bogus 2025", "orders in :year"])
def test_the_name_of_a_parameter_is_no_value(odd: str) -> None:
    assert match(odd, "orders in :year", year=YEAR) is None


def test_values_of_several_words_are_found_among_many() -> None:
    names = (*(f"Customer {at}" for at in range(1000)), "Nord-Süd", "Nord")
    named = {"name": Parameter(type="text", default="Nord", values=names)}
    assert match("orders of customer 7", "orders of :name", **named) == {"name": "Customer 7"}
    assert match("orders of Nord Sud", "orders of :name", **named) == {"name": "Nord-Süd"}
    assert match("orders of Sud Nord", "orders of :name", **named) is None


def test_digits_of_other_scripts_are_no_numbers() -> None:
    assert match("revenue in \uff12\uff10\uff12\uff15", "revenue in :year", year=YEAR) is None
    with pytest.raises(ValidationError):
        Parameter(type="date", default="2024-W01-1")


def test_a_query_without_parameters_stays_as_it_was_given() -> None:
    # So a person who called it wrong is not answered by it in another spelling.
    pair = Pair(question="Sales?", phrasings=("Sold?",), sql="select 1  -- all")
    assert pair.bind({}, "postgres") == "select 1  -- all"


def test_values_of_a_column_are_those_that_the_search_found() -> None:
    assert match("orders of Bern", "orders of :city", city=CITY) is None
    bern = ValueMatch("Bern", "s.customers", "city", "BE", 1.0)
    assert match("orders of Bern", "orders of :city", bern, city=CITY) == {"city": "BE"}
    other = ValueMatch("Bern", "s.orders", "city", "BE", 1.0)
    assert match("orders of Bern", "orders of :city", other, city=CITY) is None


def test_values_are_literals_of_the_query() -> None:
    sql = "SELECT 1 FROM t WHERE a = :region AND b > :amount AND c = :day LIMIT :n"
    odd = Parameter(type="text", default="x' OR 1=1 --", values=("x' OR 1=1 --",))
    parameters = {"region": odd, "amount": Parameter(type="number", default="-2.5"), "day": DAY}
    parameters["n"] = Parameter(type="integer", default="3")
    pair = read_pattern(Pair(question="Rows?", sql=sql, parameters=parameters).write_pattern())
    bound = pair.bind(pair.defaults, "postgres")
    assert bound == (
        "SELECT 1 FROM t WHERE a = 'x'' OR 1=1 --' AND b > -2.5"
        " AND c = CAST('2024-01-01' AS DATE) LIMIT 3"
    )
    assert "c = '2024-01-01'" in pair.bind(pair.defaults, "sqlite")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"type": "text", "default": "x"}, "its allowed values"),
        ({"type": "integer", "default": "1.5"}, "'1.5' is not allowed"),
        ({"type": "integer", "default": 3, "values": [1, 2]}, "'3' is not allowed"),
        ({"type": "date", "default": "2024-01-01", "min": "soon"}, "'soon' is no date"),
        ({"type": "number", "default": 1, "column": "s.t.c"}, "has a column"),
    ],
)
def test_a_parameter_that_is_wrong_says_why(fields: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told):
        Parameter.model_validate(fields)
