"""Definitions that verified examples have in common."""

from __future__ import annotations

import yaml

from retrieval.semantics.resolution import resolve_definitions
from retrieval.semantics.semantics_file import parse_semantics
from retrieval.semantics.suggestions import render_suggestions, suggest_definitions
from tests.fakes import SHOP
from tests.retrieval.semantics.files import GERMANS, REVENUE

EXAMPLES = [
    (
        "What did Germans\nspend?",
        "SELECT SUM(l.quantity * l.price) AS money_spent FROM order_lines AS l"
        " JOIN orders AS o ON o.id = l.order_id JOIN customers c ON c.id = o.customer_id"
        " WHERE o.status <> 'cancelled' AND c.country = 'DE'",
    ),
    (
        "What was spent on each order?",
        "SELECT order_id, sum(price * quantity) FROM order_lines"
        " JOIN orders ON orders.id = order_id WHERE 'cancelled' <> status GROUP BY order_id",
    ),
    ("How many Germans?", "SELECT count(*) FROM customers WHERE (country = 'DE')"),
    ("How many in all?", "SELECT count(*) FROM customers"),
    ("The same twice", "SELECT max(total), max(total) FROM orders"),
    ("Not SQL", "SELECT FROM WHERE ("),
]


def test_what_two_examples_have_is_suggested() -> None:
    found = suggest_definitions(EXAMPLES, SHOP)
    assert [(each.kind, each.name, each.sql, len(each.questions)) for each in found] == [
        ("measure", "money spent", "SUM(order_lines.quantity * order_lines.price)", 2),
        ("filter", "filter 1", "customers.country = 'DE'", 2),
        ("filter", "filter 2", "orders.status <> 'cancelled'", 2),
    ]


def test_what_is_defined_already_is_not_suggested() -> None:
    assert suggest_definitions(EXAMPLES, SHOP, [REVENUE, GERMANS]) == ()


def test_the_text_is_a_file_of_definitions() -> None:
    text = render_suggestions(suggest_definitions(EXAMPLES, SHOP))
    assert "  money spent:  # in 2 examples, such as: What did Germans spend?\n" in text
    resolved, problems = resolve_definitions(parse_semantics(yaml.safe_load(text)), SHOP)
    assert (len(resolved), problems) == (3, ())


def test_a_question_cannot_end_its_comment() -> None:
    asked = "x\u2028filters: {}\x85y"
    pairs = [(f"{asked} {number}", "SELECT max(total) FROM orders") for number in (1, 2)]
    text = render_suggestions(suggest_definitions(pairs, SHOP))
    assert set(yaml.safe_load(text)) == {"version", "measures"}
