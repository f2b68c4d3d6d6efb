"""The terms of a score, one by one."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from nl2sql.types import (
    Candidate,
    Explained,
    Finding,
    JoinPlan,
    Plan,
    SchemaLink,
    Score,
    ScoreTerm,
    ValueMatch,
)
from ranking.query import read_candidate
from ranking.score.points import load_points
from ranking.score.result_terms import EMPTY_TERMS
from ranking.score.score import score_candidate, score_result
from ranking.vote.order import says_nothing
from tests.fakes import (
    build_assessment,
    build_context,
    build_guarded,
    build_question,
    build_result,
)
from tests.golden import ARROW, load_cases

# What nearly every query has to some degree; tested in doctests of their modules, and below.
GRADUAL = frozenset("columns_unnamed tables_unnamed words_unused outputs_unasked".split())
MATCH = ValueMatch("acme", "sales.customers", "name", "Acme", 1.0)


def score(
    sql: str = "SELECT 1",
    question: str = "Anything?",
    *used: str,
    findings: tuple[Finding, ...] = (),
    plan: Plan | None = None,
    values: tuple[ValueMatch, ...] = (),
) -> dict[str, float]:
    """The strengths of the terms by name, without the base."""
    context = build_context(values=values)
    result = score_candidate(
        build_question(text=question),
        Candidate("c1", sql),
        read_candidate(sql, context),
        build_guarded("SELECT 1 FROM wrapped", *used),
        Explained(cost=10.0, rows=1.0),
        findings,
        context,
        plan or Plan(),
    )
    base, *terms = result.terms
    assert (base.name, base.value) == ("base", 100.0)
    for term in terms:
        points = load_points()[term.name]
        assert term.value == pytest.approx(points * term.strength, abs=0.06)
    return {term.name: round(term.strength, 2) for term in terms if term.name not in GRADUAL}


def link(*tables: str) -> Plan:
    return Plan(tuple(SchemaLink("x", table, "", 0.5) for table in tables))


def test_an_order_of_rows_names_no_orders() -> None:
    context = build_context()
    candidate = Candidate("c1", "SELECT id FROM orders")
    query = read_candidate(candidate.sql, context)
    question = build_question(text="List customers in descending order")
    told = score_candidate(question, candidate, query, build_guarded(), None, (), context, Plan())
    found = {term.name: term.strength for term in told.terms}
    assert (found["tables_unnamed"], found["words_unused"]) == (1.0, 1.0)


def test_a_finding_is_a_term_under_the_name_of_its_rule() -> None:
    findings = (Finding("outer_column", "error", ""), Finding("unused_join", "warning", ""))
    assert score(findings=findings) == {"lint:outer_column": 1.0, "lint:unused_join": 1.0}


@pytest.mark.parametrize(
    ("used", "wanted", "linked", "planned"),
    [
        (("s.a", "s.b"), ("s.b", "s.a"), 1.0, 1.0),
        (("s.a", "s.b"), ("s.a", "s.c"), 0.5, 0.33),
        (("s.a",), ("s.a", "s.b"), 1.0, 0.5),
        (("s.a", "s.b", "s.c"), ("s.a",), 0.33, None),
        (("s.c",), ("s.a", "s.b"), None, None),
        ((), ("s.a", "s.b"), None, None),
    ],
)
def test_the_share_of_linked_tables_and_agreement_with_the_planned_join_are_terms(
    used: tuple[str, ...],
    wanted: tuple[str, ...],
    linked: float | None,
    planned: float | None,
) -> None:
    assert score("SELECT 1", "", *used, plan=link(*wanted)).get("schema_adherence") == linked
    joins = Plan(joins=JoinPlan(tables=wanted))
    assert score("SELECT 1", "", *used, plan=joins).get("join_match") == planned


@pytest.mark.parametrize(("term", "case"), load_cases("asked_and_written"))
def test_what_the_question_asks_for_and_the_query_lacks(term: str, case: str) -> None:
    question, _, sql = case.partition(ARROW)
    terms = score(sql, question)
    assert terms[term] == 1.0 if term != "nothing" else not terms


def test_phrases_that_name_tables_and_columns_want_them_used() -> None:
    plan = Plan(
        (
            SchemaLink("orders", "sales.orders", "", 1.0),
            SchemaLink("customers", "sales.customers", "", 1.0),
            SchemaLink("name", "sales.customers", "name", 1.0),
            SchemaLink("name", "stock.products", "name", 1.0),
            SchemaLink("status", "sales.orders", "status", 1.0),
            SchemaLink("order", "sales.orders", "total", 0.5),
            SchemaLink("open", "sales.orders", "seller_id", 1.0, method="value"),
        )
    )
    terms = score("SELECT name FROM products", "name", "stock.products", plan=plan)
    assert terms == {"schema_adherence": 1.0, "tables_missed": 1.0, "links_missed": 0.5}
    terms = score("SELECT name FROM customers", "name", "sales.customers", plan=plan)
    assert terms == {"schema_adherence": 1.0, "tables_missed": 0.5, "links_missed": 0.5}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT id FROM customers WHERE name = 'Acme'", {}),
        ("SELECT id FROM customers WHERE name ILIKE '%acme%'", {}),
        ("SELECT id FROM customers WHERE country = 'Acme'", {"values_misplaced": 1.0}),
        ("SELECT id FROM customers", {}),
        ("SELECT id FROM visits WHERE who = 'Acme'", {}),
    ],
    ids=["in_place", "by_like", "elsewhere", "nowhere", "unknown_table"],
)
def test_a_value_that_the_question_names_belongs_into_its_column(
    sql: str, expected: dict[str, float]
) -> None:
    terms = score(sql, "Who is Acme?", values=(MATCH,))
    assert {name: terms[name] for name in terms if name == "values_misplaced"} == expected


@pytest.mark.parametrize(
    ("condition", "misses"),
    [
        ("name = 'Acme'", False),
        ("name = 'ACME'", True),
        ("name IN ('ACME', 'Acme')", False),
        ("lower(name) = 'acme'", False),
        ("name ILIKE 'acme'", False),
        ("name <> 'ACME'", False),
    ],
)
def test_all_spellings_of_a_value_are_meant(condition: str, misses: bool) -> None:
    terms = score(f"SELECT id FROM customers WHERE {condition}", "Who is Acme?", values=(MATCH,))
    assert ("spellings_missed" in terms) is misses


def test_a_value_that_retrieval_found_counts_as_said() -> None:
    sql = "SELECT id FROM customers WHERE name = 'Acme'"
    assert "values_unsaid" in score(sql, "Who?")
    assert "values_unsaid" not in score(sql, "Who?", values=(MATCH,))


@pytest.mark.parametrize(
    ("question", "rows", "expected"),
    [
        ("How many orders are there?", [(5,)], {}),
        ("How many orders are there?", [(None,)], {"nulls_only": 1.0}),
        ("How many orders are there?", [(0,)], {"zeros_only": 1.0}),
        ("What share of the orders is open?", [(100.0,)], {"whole_shares": 1.0}),
        ("What share of the orders is open?", [(1,)], {"whole_shares": 1.0}),
        ("What share of the orders is open?", [(560.5,)], {"whole_shares": 1.0}),
        ("What share of the orders is open?", [(41.5,)], {}),
        ("What share of the orders is open?", [(Decimal("NaN"),)], {}),
        ("How many orders are there?", [(100,)], {}),
        ("What is the name of all customers?", [("a", 1)], {"width_differs": 1.0}),
        ("Show the top 2 names.", [("a",), ("b",)], {}),
        ("Anything?", [], {"no_rows": 1.0}),
        ("Anything?", [(None, None), (None, None)],
         {"nulls_only": 1.0, "repeated_rows": 0.5}),
        ("Anything?", [(0,), (1,)], {}),
        ("Anything?", [("a",), ("a",), ("a",), ("b",)], {"repeated_rows": 0.5}),
    ],
)  # fmt: skip
def test_the_result_has_terms_of_its_own(
    question: str, rows: list[tuple[object, ...]], expected: dict[str, float]
) -> None:
    scored = score_result(question, build_assessment(rows=rows))
    found = {term.name: term.strength for term in scored.terms[1:] if term.name not in GRADUAL}
    assert found == expected


def test_a_cell_that_was_too_long_to_be_read_is_not_empty() -> None:
    result = replace(build_result((None,)), cut=((0, 0),))
    scored = score_result("Anything?", replace(build_assessment(), result=result))
    assert not EMPTY_TERMS & {term.name for term in scored.terms}
    assert not says_nothing(result)


@pytest.mark.parametrize(("rows", "stays"), [([("a",)], False), ([], True), ([(0,)], True)])
def test_a_text_that_a_result_shows_to_be_stored_counts_as_said(
    rows: list[tuple[object, ...]], stays: bool
) -> None:
    unsaid = Score((ScoreTerm("values_unsaid", -49.8),))
    scored = score_result("Anything?", replace(build_assessment(rows=rows), score=unsaid))
    assert ("values_unsaid" in {term.name for term in scored.terms}) is stays


@pytest.mark.parametrize(("rows", "stays"), [([(3,)], True), ([(0,)], False), ([], False)])
def test_a_rule_that_reads_the_question_has_no_points_where_it_finds_nothing(
    rows: list[tuple[object, ...]], stays: bool
) -> None:
    asked = Score((ScoreTerm("derived:present_rows", 125.0),))
    scored = score_result("Anything?", replace(build_assessment(rows=rows), score=asked))
    assert ("derived:present_rows" in {term.name for term in scored.terms}) is stays
