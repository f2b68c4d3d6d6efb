"""The winner's page: what the vote saw is enough, or it is fetched once more."""

from __future__ import annotations

import pytest

from nl2sql.errors import Busy
from nl2sql.types import Diagnostic
from ranking.vote.polling import fetch_page
from tests.fakes import (
    FakeExecutor,
    build_assessment,
    build_diagnostic,
    build_result,
)

ROWS = [(1,), (2,), (3,)]


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
