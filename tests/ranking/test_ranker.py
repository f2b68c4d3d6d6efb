"""Guard before EXPLAIN before execution, for every candidate."""

from __future__ import annotations

import pytest

from nl2sql.errors import DatabaseUnavailable, IndexUnavailable
from nl2sql.types import Plan, Violation
from ranking.ranker import CandidateRanker
from tests.fakes import (
    FakeExecutor,
    FakeGuard,
    build_assessment,
    build_candidate,
    build_diagnostic,
    build_guarded,
    build_question,
    build_result,
    build_settings,
    build_violation,
)

QUESTION = build_question(max_rows=7)


def build_ranker(guard: FakeGuard, executor: FakeExecutor, **flags: bool) -> CandidateRanker:
    return CandidateRanker(guard, executor, build_settings(flags=flags).flags)


async def test_a_refused_candidate_never_reaches_the_executor() -> None:
    executor = FakeExecutor()
    ranker = build_ranker(FakeGuard({"DROP": build_violation("not_a_query")}), executor)
    assessment = await ranker.assess(QUESTION, build_candidate("DROP"), Plan())
    ranking = await ranker.rank(QUESTION, (assessment,), samples=4)
    assert isinstance(assessment.verdict, Violation)
    assert assessment.verdict.code == "not_a_query"
    assert ranking.winner is None
    assert executor.explained == []
    assert executor.executed == []


async def test_what_is_explained_and_executed_is_what_the_guard_returned() -> None:
    safe = build_guarded('SELECT id FROM "sales"."orders"', "sales.orders")
    guard = FakeGuard({"select id from orders": safe})
    executor = FakeExecutor({safe.sql: [build_result((1,))]})
    ranker = build_ranker(guard, executor)
    candidate = build_candidate("select id from orders")
    ranking = await ranker.rank(
        QUESTION, (await ranker.assess(QUESTION, candidate, Plan()),), samples=4
    )
    assert guard.guarded == [("shop", "select id from orders", QUESTION.principal)]
    assert executor.explained == [safe]
    assert executor.executed == [(safe, 7)]
    assert ranking.winner is not None
    assert ranking.winner.verdict is safe


async def test_an_explain_that_fails_is_a_diagnostic_and_is_not_executed() -> None:
    executor = FakeExecutor(explains={"SELECT x": [build_diagnostic("no x")]})
    ranker = build_ranker(FakeGuard(), executor)
    assessment = await ranker.assess(QUESTION, build_candidate("SELECT x"), Plan())
    await ranker.rank(QUESTION, (assessment,), samples=4)
    assert assessment.diagnostic is not None
    assert assessment.diagnostic.message == "no x"
    assert assessment.explained is None
    assert [term.name for term in assessment.score.terms] == ["base", "explain_fails"]
    assert executor.executed == []


async def test_an_execution_that_fails_is_a_diagnostic() -> None:
    executor = FakeExecutor({"SELECT 1/0": [build_diagnostic("division", sqlstate="22012")]})
    ranker = build_ranker(FakeGuard(), executor)
    assessment = await ranker.assess(QUESTION, build_candidate("SELECT 1/0"), Plan())
    (ranked,) = (await ranker.rank(QUESTION, (assessment,), samples=4)).assessments
    assert ranked.diagnostic is not None
    assert ranked.diagnostic.sqlstate == "22012"
    assert ranked.result is None


async def test_lint_reads_the_guarded_query_and_enters_the_score() -> None:
    ranker = build_ranker(FakeGuard(), FakeExecutor())
    assessment = await ranker.assess(QUESTION, build_candidate("SELECT * FROM a, b"), Plan())
    assert [finding.rule for finding in assessment.findings] == ["cartesian_join", "select_star"]
    assert assessment.score.total == 70.0


async def test_what_has_run_is_not_run_again() -> None:
    executor = FakeExecutor({"SELECT 2": [build_result((2,))]})
    ranker = build_ranker(FakeGuard(), executor)
    done = build_assessment("c1", sql="SELECT 1", rows=[(1,)])
    fresh = build_assessment("c2", sql="SELECT 2")
    await ranker.rank(QUESTION, (done, fresh), samples=4)
    assert [query.sql for query, _ in executor.executed] == ["SELECT 2"]


async def test_with_the_reranker_the_vote_decides() -> None:
    few = build_assessment("c1", samples=1, rows=[(1,)])
    many = build_assessment("c2", samples=3, rows=[(2,)])
    ranker = build_ranker(FakeGuard(), FakeExecutor())
    ranking = await ranker.rank(QUESTION, (few, many), samples=4)
    assert [each.candidate.id for each in ranking.assessments] == ["c2", "c1"]
    assert ranking.quorum


async def test_without_the_reranker_the_first_with_a_result_leads_in_the_old_order() -> None:
    broken = build_assessment("c1", diagnostic=build_diagnostic())
    few = build_assessment("c2", samples=1, rows=[(1,)])
    many = build_assessment("c3", samples=3, rows=[(2,)])
    ranker = build_ranker(FakeGuard(), FakeExecutor(), reranker=False)
    ranking = await ranker.rank(QUESTION, (broken, few, many), samples=5)
    assert [each.candidate.id for each in ranking.assessments] == ["c2", "c1", "c3"]
    assert ranking.samples == 5
    assert not ranking.quorum


async def test_an_error_of_the_database_passes_through() -> None:
    down = DatabaseUnavailable("Down.", database="shop")
    ranker = build_ranker(FakeGuard(), FakeExecutor(explains={"SELECT 1": [down]}))
    with pytest.raises(DatabaseUnavailable):
        await ranker.assess(QUESTION, build_candidate("SELECT 1"), Plan())


async def test_an_error_of_the_guard_ends_before_the_database() -> None:
    class Broken(FakeGuard):
        async def guard(self, *arguments: object) -> Violation:
            raise IndexUnavailable("Down.")

    executor = FakeExecutor()
    with pytest.raises(IndexUnavailable):
        await build_ranker(Broken(), executor).assess(QUESTION, build_candidate(), Plan())
    assert executor.explained == []
