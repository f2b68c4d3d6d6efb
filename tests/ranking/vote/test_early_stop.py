"""When another sample is not worth its time."""

from __future__ import annotations

from typing import Any

import pytest

from nl2sql.types import Candidate, Display, Finding
from ranking.vote.order import vote
from tests.fakes import build_assessment

REPAIRED = Candidate("c1", "SELECT 1", samples=4, origin="repair")
ERROR = Finding("outer_column", "error", "The subquery selects a column of the outer query.")


@pytest.mark.parametrize(
    ("samples", "drawn", "settled"),
    [((4,), 4, True), ((2,), 2, True), ((3, 1), 4, False), ((1,), 1, False), ((3,), 5, False)],
)
def test_agreement_of_all_is_accepted(samples: tuple[int, ...], drawn: int, settled: bool) -> None:
    groups = [
        build_assessment(f"c{number}", samples=count, rows=[(number,)])
        for number, count in enumerate(samples, start=1)
    ]
    assert vote(groups, drawn).settled is settled


def test_samples_that_agree_on_the_rows_but_not_on_the_columns_are_not_enough() -> None:
    names = build_assessment("c1", samples=2, rows=[("Ada",)], display=Display(("name",)))
    both = build_assessment("c2", samples=2, rows=[("Ada", 3)], display=Display(("name", "age")))
    ranking = vote([names, both], 4)
    assert ranking.assessments[0].votes == 4
    assert not ranking.settled


@pytest.mark.parametrize(
    "known",
    [
        pytest.param({"rows": []}, id="empty"),
        pytest.param({"unrun": "timeout"}, id="unknown"),
        pytest.param({"rows": [(1,)], "findings": (ERROR,)}, id="wrong"),
        pytest.param({"rows": [(1,)], "candidate": REPAIRED}, id="repaired"),
    ],
)
def test_agreement_that_tells_nothing_is_not_enough(known: dict[str, Any]) -> None:
    assert not vote([build_assessment(samples=4, **known)], 4).settled
