"""Texts that no row holds: asked of the database, under the guard, within a budget."""

from __future__ import annotations

from nl2sql.types import ResultSet, ValueMatch
from ranking.query import Query, read_candidate
from ranking.value_verification import ValueVerifier
from tests.fakes import (
    FakeExecutor,
    FakeGuard,
    build_context,
    build_diagnostic,
    build_question,
    build_result,
    build_violation,
)

QUESTION = build_question()
ACME = """SELECT 1 FROM "sales"."customers" WHERE "name" = 'Acme' LIMIT 1"""
FRANCE = """SELECT 1 FROM "sales"."customers" WHERE "country" = 'France' LIMIT 1"""
NOTHING = ResultSet(("?column?",), ("int4",), (), False, 1.0)
BOTH = "SELECT id FROM customers WHERE name = 'Acme' AND country IN ('France')"


def read(sql: str) -> Query:
    query = read_candidate(sql, build_context())
    assert query is not None
    return query


async def measure(
    sql: str, guard: FakeGuard, executor: FakeExecutor, *values: ValueMatch, most: int = 4
) -> tuple[tuple[str, float], ...]:
    verifier = ValueVerifier(guard, executor, most_probes=most)
    return await verifier.measure(QUESTION, read(sql), values)


async def test_the_share_of_texts_that_are_not_stored() -> None:
    guard, executor = FakeGuard(), FakeExecutor({ACME: [build_result((1,))], FRANCE: [NOTHING]})
    assert await measure(BOTH, guard, executor) == (("values_unknown", 0.5),)
    assert guard.guarded == [
        ("shop", ACME, QUESTION.principal),
        ("shop", FRANCE, QUESTION.principal),
    ]
    assert [rows for _, rows in executor.executed] == [1, 1]
    assert all(limits and limits.timeout_ms == 500 for limits in executor.limits)


async def test_what_retrieval_found_is_not_asked_again() -> None:
    executor = FakeExecutor({FRANCE: [build_result((1,))]})
    match = ValueMatch("acme", "sales.customers", "name", "Acme", 1.0)
    assert await measure(BOTH, FakeGuard(), executor, match) == ()
    assert len(executor.executed) == 1


async def test_no_more_is_asked_than_the_budget_allows() -> None:
    executor = FakeExecutor({ACME: [NOTHING]})
    assert await measure(BOTH, FakeGuard(), executor, most=1) == (("values_unknown", 0.5),)


async def test_what_the_guard_refuses_is_not_run_and_costs_nothing() -> None:
    executor = FakeExecutor()
    guard = FakeGuard({ACME: build_violation("not_permitted"), FRANCE: build_violation()})
    assert await measure(BOTH, guard, executor) == ()
    assert executor.executed == []


async def test_what_fails_costs_nothing() -> None:
    executor = FakeExecutor({ACME: [build_diagnostic()], FRANCE: [build_diagnostic()]})
    assert await measure(BOTH, FakeGuard(), executor) == ()


async def test_numbers_negations_patterns_and_unknown_tables_are_not_asked_about() -> None:
    executor = FakeExecutor()
    for condition in (
        "id = 5",
        "name <> 'Acme'",
        "NOT name = 'Acme'",
        "name NOT IN ('Acme')",
        "name LIKE 'Ac%'",
        "visits.who = 'Acme'",
    ):
        sql = f"SELECT 1 FROM customers, visits WHERE {condition}"
        assert await measure(sql, FakeGuard(), executor) == (), condition
    assert executor.executed == []
