"""The winner's page: what the vote saw is enough, or it is fetched once more."""

from __future__ import annotations

import pytest

from nl2sql.errors import Busy
from nl2sql.types import Diagnostic, Ranking
from ranking.vote.polling import fetch_page, find_unrun_leader, run_whole
from tests.fakes import (
    FakeExecutor,
    build_assessment,
    build_diagnostic,
    build_result,
    build_violation,
)

ROWS = [(1,), (2,), (3,)]


async def test_a_whole_result_is_the_page() -> None:
    executor = FakeExecutor()
    winner = build_assessment(rows=ROWS)
    assert await fetch_page(executor, winner, 3) is winner
    assert executor.executed == []


async def test_what_the_vote_cut_is_fetched_once_more() -> None:
    whole = build_result(*ROWS)
    executor = FakeExecutor({"a": [whole]})
    seen = build_result((1,), truncated=True)
    page = await fetch_page(executor, build_assessment(sql="a", result=seen), 100)
    assert page.result == whole
    assert [rows for _, rows in executor.executed] == [100]
    assert executor.limits == [None]


@pytest.mark.parametrize(
    "answer",
    [build_diagnostic(sqlstate="57014"), Busy("The database is busy.", retry_after_s=1)],
    ids=["timeout", "no turn"],
)
async def test_a_page_that_cannot_be_fetched_stays_what_the_vote_saw(
    answer: Diagnostic | Busy,
) -> None:
    executor = FakeExecutor({"a": [answer]})
    seen = build_result((1,), truncated=True)
    page = await fetch_page(executor, build_assessment(sql="a", result=seen), 100)
    assert page.result == seen


def test_the_leader_is_looked_for_only_before_a_result_or_an_error() -> None:
    late = build_assessment("c1", unrun="budget")
    run = build_assessment("c2", rows=[(1,)])
    refused = build_assessment("c3", verdict=build_violation())
    assert find_unrun_leader(Ranking((late, run))) is late
    assert find_unrun_leader(Ranking((run, late))) is None
    assert find_unrun_leader(Ranking((refused, late))) is None
    assert find_unrun_leader(Ranking()) is None


async def test_a_leader_runs_under_the_services_own_limits() -> None:
    executor = FakeExecutor({"a": [build_result((1,))], "b": [build_diagnostic()]})
    good = await run_whole(executor, build_assessment(sql="a", unrun="timeout"), 9)
    bad = await run_whole(executor, build_assessment(sql="b", unrun="budget"), 9)
    assert (good.unrun, good.result is not None, good.failed) == ("", True, False)
    assert (bad.unrun, bad.result, bad.failed) == ("", None, True)
    assert executor.limits == [None, None]
