"""The terms of a score, one by one."""

from __future__ import annotations

import pytest

from nl2sql.types import (
    Diagnostic,
    Explained,
    Finding,
    GuardedQuery,
    JoinPlan,
    Plan,
    SchemaLink,
    SchemaLinks,
)
from ranking.score import score_candidate
from tests.fakes import build_diagnostic, build_guarded

EXPLAINED = Explained(cost=10.0, rows=1.0)


def score(
    question: str = "How many?",
    query: GuardedQuery | None = None,
    explained: Explained | Diagnostic = EXPLAINED,
    findings: tuple[Finding, ...] = (),
    plan: Plan | None = None,
) -> dict[str, float]:
    """The terms by name."""
    query = query or build_guarded("SELECT 1")
    result = score_candidate(question, query, explained, findings, plan or Plan())
    terms = {term.name: term.value for term in result.terms}
    assert result.total == sum(terms.values())
    return terms


def link(*tables: str) -> Plan:
    return Plan(SchemaLinks(tuple(SchemaLink("x", table, "", 1.0) for table in tables)))


def join(*tables: str) -> Plan:
    return Plan(joins=JoinPlan(tables=tables))


def test_a_plain_query_has_the_base_alone() -> None:
    assert score() == {"base": 100.0}


def test_a_failed_explain_costs_fifty() -> None:
    assert score(explained=build_diagnostic()) == {"base": 100.0, "explain_fails": -50.0}


def test_lint_costs_by_severity_under_the_name_of_its_rule() -> None:
    findings = (Finding("bad", "error", ""), Finding("odd", "warning", ""))
    assert score(findings=findings) == {"base": 100.0, "lint:bad": -25.0, "lint:odd": -5.0}


@pytest.mark.parametrize(
    ("question", "sql", "matches"),
    [
        ("Orders per country", "SELECT c FROM t GROUP BY c", True),
        ("Orders for each country", "select c from t group by c", True),
        ("Orders by country", "SELECT c FROM t GROUP BY c", True),
        ("Orders by 2024", "SELECT c FROM t GROUP BY c", False),
        ("How many orders?", "SELECT c FROM t GROUP BY c", False),
        ("Orders per country", "SELECT c FROM t", False),
        ("Paper prices", "SELECT c FROM t GROUP BY c", False),
    ],
    ids=["per", "each", "by", "by_a_number", "no_word", "no_group", "part_of_a_word"],
)
def test_grouping_that_was_asked_for_gains_ten(question: str, sql: str, matches: bool) -> None:
    expected = {"base": 100.0, "group_by_matches": 10.0} if matches else {"base": 100.0}
    assert score(question, build_guarded(sql)) == expected


@pytest.mark.parametrize(
    ("question", "sql", "matches"),
    [
        ("The top 3 products", "SELECT p FROM t ORDER BY s DESC LIMIT 3", True),
        ("The cheapest? The LOWEST price", "SELECT p FROM t ORDER BY s LIMIT 1", True),
        ("The top 3 products", "SELECT p FROM t ORDER BY s DESC", False),
        ("The top 3 products", "SELECT p FROM t LIMIT 3", False),
        ("All products", "SELECT p FROM t ORDER BY s LIMIT 3", False),
        ("When does it stop?", "SELECT p FROM t ORDER BY s LIMIT 3", False),
    ],
    ids=["top", "lowest", "no_limit", "no_order", "no_word", "part_of_a_word"],
)
def test_a_top_list_that_was_asked_for_gains_ten(question: str, sql: str, matches: bool) -> None:
    expected = {"base": 100.0, "order_and_limit_match": 10.0} if matches else {"base": 100.0}
    assert score(question, build_guarded(sql)) == expected


@pytest.mark.parametrize(
    ("used", "linked", "gain"),
    [
        (("s.a",), ("s.a",), 15.0),
        (("s.a", "s.b"), ("s.a", "s.c"), 7.5),
        (("s.a", "s.b", "s.c"), ("s.a",), 5.0),
        (("s.a",), ("s.b",), None),
        ((), ("s.a",), None),
    ],
    ids=["all", "half", "a_third", "none", "no_tables"],
)
def test_the_share_of_linked_tables_gains_up_to_fifteen(
    used: tuple[str, ...], linked: tuple[str, ...], gain: float | None
) -> None:
    terms = score(query=build_guarded("SELECT 1", *used), plan=link(*linked))
    assert terms.get("schema_adherence") == gain


@pytest.mark.parametrize(
    ("used", "planned", "gain"),
    [
        (("s.a", "s.b"), ("s.b", "s.a"), 20.0),
        (("s.a", "s.b"), ("s.b", "s.c"), 6.7),
        (("s.a",), ("s.a", "s.b"), 10.0),
        (("s.c",), ("s.a", "s.b"), None),
        (("s.a",), ("s.a",), None),
        ((), ("s.a", "s.b"), None),
    ],
    ids=["all", "a_third", "half", "none", "no_join_planned", "no_tables"],
)
def test_the_planned_join_gains_up_to_twenty(
    used: tuple[str, ...], planned: tuple[str, ...], gain: float | None
) -> None:
    terms = score(query=build_guarded("SELECT 1", *used), plan=join(*planned))
    assert terms.get("join_match") == gain
