"""Whether a candidate uses a definition, and what is said if it leaves out a measure's filter."""

from __future__ import annotations

import pytest

from nl2sql.types import Assessment, Definition, Plan, Question
from ranking.definition_use import find_uses
from ranking.lint import lint_query
from ranking.query import read_candidate
from tests.fakes import (
    FakeExecutor,
    FakeGuard,
    build_candidate,
    build_context,
    build_guarded,
    build_question,
)
from tests.golden import load_cases
from tests.ranking.test_ranker import build_ranker
from tests.retrieval.semantics.files import GERMANS, REVENUE, build_definition

COUNTED = build_definition(
    measures={"clients": {"expression": "count(*)", "filter": "customers.country = 'DE'"}}
)
CATEGORY = build_definition(dimensions={"category": "products.category"})
QUESTION = build_question(text="What was the revenue?")
JOINED = "FROM order_lines AS l JOIN orders AS o ON o.id = l.order_id"


def judge(sql: str, definition: Definition = REVENUE) -> tuple[bool, str]:
    """Whether it is used, and the finding's message."""
    context = build_context(definitions=(definition,))
    query = read_candidate(sql, context)
    assert query is not None
    (use,) = uses = find_uses(query, context)
    found = {finding.rule: finding.message for finding in lint_query(query, uses=uses)}
    return use.is_whole, found.get("measure_without_filter", "")


MISSING = "revenue is defined with orders.status <> 'cancelled', which is missing."


@pytest.mark.parametrize(("use", "sql"), load_cases("measure_uses"))
def test_a_measure(use: str, sql: str) -> None:
    is_whole, told = judge(sql.format(JOINED=JOINED))
    assert is_whole is (use == "whole")
    assert told == (MISSING if use == "without its filter" else "")


@pytest.mark.parametrize(
    ("definition", "sql", "used"),
    [
        (GERMANS, "SELECT c.name FROM customers AS c WHERE c.country = 'DE' AND c.id > 1", True),
        (GERMANS, "SELECT count(*) FILTER (WHERE country = 'DE') FROM customers", True),
        (GERMANS, "SELECT name FROM customers WHERE country = 'FR'", False),
        (GERMANS, "SELECT name FROM customers", False),
        (CATEGORY, "SELECT p.category, count(*) FROM products p GROUP BY p.category", True),
        (CATEGORY, "SELECT name FROM products", False),
    ],
)
def test_a_filter_and_a_dimension_have_no_finding(
    definition: Definition, sql: str, used: bool
) -> None:
    assert judge(sql, definition) == (used, "")


def test_counting_the_rows_of_another_table_is_not_the_measure() -> None:
    assert judge("SELECT count(*) FROM customers WHERE country = 'DE'", COUNTED) == (True, "")
    assert judge("SELECT count(*) FROM orders", COUNTED) == (False, "")
    assert judge("SELECT count(*) FROM customers", COUNTED)[1].startswith("clients is defined")


def test_a_long_chain_of_operators_ends_soon() -> None:
    ratio = build_definition(measures={"ratio": "sum(orders.total) / count(orders.id)"})
    assert judge("SELECT " + "/".join(["1"] * 2000), ratio) == (False, "")


async def assess(sql: str, question: Question = QUESTION) -> Assessment:
    context = build_context(definitions=(REVENUE, CATEGORY))
    ranker = build_ranker(FakeGuard(), FakeExecutor())
    guarded = build_guarded(sql, "sales.order_lines", "sales.orders")
    return await ranker.assess(question, build_candidate(sql), guarded, context, Plan())


async def test_use_is_scored_and_kept_with_the_assessment() -> None:
    used = await assess(f"SELECT sum(quantity * price) {JOINED} WHERE status <> 'cancelled'")
    terms = {term.name: term.strength for term in used.score.terms}
    # One of two; its literal is known, though the question does not say it.
    assert terms["definition_used"] == 0.5
    assert "literals_unsaid" not in terms
    assert used.definitions == ("revenue",)

    bare = await assess("SELECT sum(quantity * price) FROM order_lines")
    terms = {term.name: term.strength for term in bare.score.terms}
    assert terms["lint:measure_without_filter"] == 1.0
    assert "definition_used" not in terms
    assert bare.definitions == ()
    (finding,) = bare.findings
    assert (finding.rule, finding.severity) == ("measure_without_filter", "warning")
