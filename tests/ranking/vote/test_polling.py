"""Candidates run for the vote within limits and a shared budget; what is left out is told."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from nl2sql.errors import Busy
from nl2sql.types import (
    NO_TURN,
    Assessment,
    Diagnostic,
    ExecutionLimits,
    Explained,
    GuardedQuery,
    ResultSet,
)
from ranking.vote.polling import VoteLimits, fetch_page, run_candidates
from tests.fakes import FakeExecutor, build_assessment, build_diagnostic, build_result

LIMITS = VoteLimits(rows=5, bytes=2048, timeout_ms=700)


async def test_each_runs_once_under_the_limits_of_the_vote() -> None:
    executor = FakeExecutor({"a": [build_result((1,))], "b": [build_result((2,))]})
    fresh = [build_assessment("c1", sql="a"), build_assessment("c2", sql="b", samples=3)]
    run = await run_candidates(executor, fresh, LIMITS)
    again = await run_candidates(executor, run, LIMITS)
    assert [assessment.result is not None for assessment in again] == [True, True]
    # Those with most samples go first.
    assert [(query.sql, rows) for query, rows in executor.executed] == [("b", 5), ("a", 5)]
    assert set(executor.limits) == {ExecutionLimits(700, 2048)}


EXPLAINED, PLAN = build_assessment().explained, Explained(1e12, 1e12)


@pytest.mark.parametrize(
    ("answer", "unrun", "failed", "plan"),
    [
        (build_diagnostic("late", sqlstate="57014"), "timeout", False, EXPLAINED),
        (Diagnostic("54001", "The query was not run.", explained=PLAN), "estimate", True, PLAN),
        (build_diagnostic(), "", True, EXPLAINED),
    ],
    ids=["takes too long for the vote", "expects too much", "own error"],
)
async def test_what_gives_no_result_says_why_and_runs_once(
    answer: Diagnostic, unrun: str, failed: bool, plan: Explained | None
) -> None:
    executor = FakeExecutor({"a": [answer]})
    (assessed,) = await run_candidates(executor, [build_assessment(sql="a")], LIMITS)
    assert (assessed.unrun, assessed.failed, assessed.explained) == (unrun, failed, plan)
    await run_candidates(executor, [assessed], LIMITS)
    assert len(executor.executed) == 1


async def test_one_that_got_no_turn_leaves_the_others_and_may_run_in_a_later_vote() -> None:
    busy = build_diagnostic("The database is busy.", sqlstate=NO_TURN)
    executor = FakeExecutor({"a": [build_result((1,))], "b": [busy, build_result((2,))]})
    fresh = [build_assessment("c1", sql="a"), build_assessment("c2", sql="b")]
    first = await run_candidates(executor, fresh, LIMITS)
    assert [(each.result is not None, each.unrun) for each in first] == [
        (True, ""),
        (False, "busy"),
    ]
    again = await run_candidates(executor, first, LIMITS)
    assert [(each.result is not None, each.unrun) for each in again] == [(True, ""), (True, "")]


async def test_after_the_budget_nothing_runs_and_that_is_told() -> None:
    spent = build_assessment("c1", rows=[(1,)])  # took 1 ms, by the fake
    late = build_assessment("c2", sql="b")
    limits = replace(LIMITS, budget_ms=1)
    executor = FakeExecutor()
    run = await run_candidates(executor, [spent, late], limits)
    assert [assessment.unrun for assessment in run] == ["", "budget"]
    assert executor.executed == []


async def test_no_more_run_at_once_than_may() -> None:
    class Slow(FakeExecutor):
        running = most = 0

        async def execute(
            self, query: GuardedQuery, max_rows: int, limits: ExecutionLimits | None = None
        ) -> ResultSet | Diagnostic:
            self.running += 1
            self.most = max(self.most, self.running)
            await asyncio.sleep(0)
            self.running -= 1
            return build_result((1,))

    executor = Slow()
    limits = replace(LIMITS, parallel=2)
    fresh: list[Assessment] = [build_assessment(f"c{number}") for number in range(6)]
    run = await run_candidates(executor, fresh, limits)
    assert all(assessment.result is not None for assessment in run)
    assert executor.most == 2


# -- the winner's page ---------------------------------------------------------------------------

SEEN, WHOLE = build_result((1,), truncated=True), build_result((1,), (2,), (3,))


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (WHOLE, WHOLE),
        (build_diagnostic(sqlstate="57014"), SEEN),
        (Busy("The database is busy.", retry_after_s=1), SEEN),
    ],
    ids=["fetched", "timeout", "no turn"],
)
async def test_what_the_vote_cut_is_fetched_once_more_or_stays_as_it_was_seen(
    answer: ResultSet | Diagnostic | Busy, shown: ResultSet
) -> None:
    executor = FakeExecutor({"a": [answer]})
    page = await fetch_page(executor, build_assessment(sql="a", result=SEEN), 100)
    assert page.result == shown
    assert [rows for _, rows in executor.executed] == [100]
    assert executor.limits == [None]
