"""Which tables and columns a question names, by rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nl2sql.catalog import Catalog, Column
from nl2sql.types import SchemaContext, SchemaLink, ValueMatch
from retrieval.linking.rules import is_time, link_by_rules
from retrieval.linking.words import NearWord, read_question
from tests.fakes import build_context, build_table
from tests.retrieval.semantics.files import REVENUE

CONTEXT = build_context()


def link(question: str, context: SchemaContext = CONTEXT) -> dict[tuple[str, str], SchemaLink]:
    return {(rule.table, rule.column): rule for rule in link_by_rules(question, context)}


@pytest.mark.parametrize(
    ("question", "table", "column", "method"),
    [
        ("How many orders?", "sales.orders", "", "name"),
        ("Show order lines", "sales.order_lines", "", "name"),
        ("lines please", "sales.order_lines", "", "name"),
        ("total of all", "sales.orders", "total", "name"),
        ("by loyalty tier", "sales.customers", "Loyalty Tier", "name"),
        ("by loyaltytier", "sales.customers", "Loyalty Tier", "name"),
        ("which employee sold it", "sales.orders", "seller_id", "comment"),
        ("the loylaty tier", "sales.customers", "Loyalty Tier", "fuzzy"),
        ("number of prodcts", "stock.products", "", "fuzzy"),
    ],
)
def test_a_phrase_links_what_it_names(question: str, table: str, column: str, method: str) -> None:
    assert link(question)[table, column].method == method


@pytest.mark.parametrize("question", ["the name and id", "status code", "weather", "", "?!"])
def test_words_of_every_schema_link_nothing(question: str) -> None:
    assert link(question) == {}


def test_a_general_word_is_a_column_of_the_table_that_is_named() -> None:
    found = link("the status of the orders")
    assert ("sales.orders", "status") in found
    assert ("sales.customers", "name") in link("names of customers")
    assert ("sales.employees", "name") not in link("names of customers")


def test_a_reference_scores_less_than_the_table_it_refers_to() -> None:
    found = link("orders of each customer")
    customers = found["sales.customers", ""].score
    assert found["sales.orders", "customer_id"].score < customers


def test_a_year_links_the_dates_of_linked_tables() -> None:
    found = link("orders in 2024")
    assert found["sales.orders", "placed_at"] == SchemaLink(
        "2024", "sales.orders", "placed_at", 0.4, "type"
    )
    assert ("sales.orders", "placed_at") not in link("all orders")


def test_a_gloss_links_by_its_phrases_and_not_by_its_hints() -> None:
    context = build_context(glosses=(("sales.orders.total", "revenue; turnover [AMT]"),))
    assert link("our turnover", context)["sales.orders", "total"].method == "synonym"
    assert ("sales.orders", "total") not in link("amt", context)


def test_a_value_links_its_column() -> None:
    match = ValueMatch("germany", "sales.customers", "country", "Germany", 1.0)
    found = link("how many in germany", build_context(values=(match,)))
    assert found["sales.customers", "country"] == SchemaLink(
        "germany", "sales.customers", "country", 0.95, "value"
    )


def test_a_definition_links_what_it_reads() -> None:
    revenue = replace(REVENUE, phrase="turnover")
    links = link("turnover", build_context(definitions=(revenue,)))
    assert {place: (found.phrase, found.method) for place, found in links.items()} == dict.fromkeys(
        [
            ("sales.order_lines", ""),
            ("sales.order_lines", "quantity"),
            ("sales.order_lines", "price"),
            ("sales.order_lines", "order_id"),
            ("sales.orders", ""),
            ("sales.orders", "id"),
            ("sales.orders", "status"),
        ],
        ("turnover", "definition"),
    )


def test_nothing_is_linked_that_is_not_in_sight() -> None:
    context = build_context(
        tables=("sales.customers",),
        values=(
            ValueMatch("x", "sales.orders", "status", "X", 1.0),
            ValueMatch("x", "sales.customers", "secret", "X", 1.0),
        ),
        glosses=(("sales.orders.total", "turnover"), ("sales.orders", "turnover")),
    )
    found = link("turnover x of customers with a secret total", context)
    assert {table for table, _ in found} == {"sales.customers"}
    assert ("sales.customers", "secret") not in found


@pytest.mark.parametrize("question", ["custno", "cust no", "the customer's number"])
def test_an_abbreviated_name_links_as_it_stands_and_written_out(question: str) -> None:
    table = build_table("s.accounts", "cust_no integer")
    found = link(question, build_context(Catalog("x", (table,))))
    assert ("s.accounts", "cust_no") in found


@pytest.mark.parametrize(
    ("dialect", "types"),
    [
        ("postgres", ["date", "timestamp(3) without time zone", "timestamp with time zone"]),
        ("postgres", ["time(6) with time zone", "time without time zone"]),
        ("sqlite", ["DATETIME", "date", "TIMESTAMP", "TIME", "smalldatetime", "datetime2"]),
        ("duckdb", ["DATE", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE", "TIME"]),
    ],
)
def test_columns_of_dates_and_times_are_known_by_their_types(
    dialect: str, types: list[str]
) -> None:
    assert [type_ for type_ in types if not is_time(Column("x", type_), dialect)] == []


@pytest.mark.parametrize(
    ("question", "vocabulary", "found"),
    [
        ("custmer list", ["customer"], {"customer": NearWord("custmer", 0.875, "fuzzy")}),
        ("which air ports", ["airport"], {"airport": NearWord("air ports", 1.0, "name")}),
        ("cancelled ones", ["cancel"], {"cancel": NearWord("cancelled", 0.9, "fuzzy")}),
        ("clients", ["customer"], {"customer": NearWord("clients", 0.8, "synonym")}),
        ("clients", ["client", "customer"], {}),
        ("departments", ["department"], {}),
        ("state", ["date", "stage"], {}),
        ("custmer", ["bustmer"], {}),
        ("source", ["course"], {}),
        (
            "invoixe",
            ["invoice", "invoise", "invoide", "invoime", "invoike", "invoile", "invoibe"],
            {"invoice": NearWord("invoixe", 0.857, "fuzzy")},
        ),
    ],
    ids=[
        "typo",
        "two_words",
        "form",
        "synonym",
        "own_word",
        "known",
        "short",
        "first_letter",
        "far",
        "first",
    ],
)
def test_words_near_to_a_name(
    question: str, vocabulary: list[str], found: dict[str, NearWord]
) -> None:
    assert read_question(question).find_near(vocabulary) == found


def test_possessives_and_function_words_are_no_content() -> None:
    assert list(read_question("What is the customer's name?").words) == ["customer", "name"]
