"""When another sample is not worth its time."""

from __future__ import annotations

import pytest

from nl2sql.types import Assessment, Candidate, Display
from ranking.vote.order import vote
from tests.fakes import build_assessment


def build(*samples: int) -> list[Assessment]:
    """Groups of so many samples each."""
    return [
        build_assessment(f"c{number}", samples=count, rows=[(number,)])
        for number, count in enumerate(samples, start=1)
    ]


@pytest.mark.parametrize(
    ("samples", "most", "settled"),
    [
        ((3, 1), 5, True),
        ((3, 1), 6, False),
        ((2, 2), 4, False),  # a draw; the last round ends by itself
        ((2, 1), 3, True),
    ],
)
def test_a_lead_that_the_rest_cannot_overturn(
    samples: tuple[int, ...], most: int, settled: bool
) -> None:
    assert vote(build(*samples), sum(samples), most_samples=most).settled is settled


@pytest.mark.parametrize(
    ("samples", "drawn", "settled"),
    [((4,), 4, True), ((2,), 2, True), ((3, 1), 4, False), ((1,), 1, False), ((3,), 5, False)],
)
def test_agreement_of_all_is_accepted(samples: tuple[int, ...], drawn: int, settled: bool) -> None:
    assert vote(build(*samples), drawn, most_samples=64).settled is settled


def test_a_lead_that_says_nothing_is_never_clear() -> None:
    empty = build_assessment("c1", samples=4, rows=[])
    assert not vote([empty], 4, most_samples=8).settled


def test_samples_that_agree_on_the_rows_but_not_on_the_columns_are_not_enough() -> None:
    names = build_assessment("c1", samples=2, rows=[("Ada",)], display=Display(("name",)))
    both = build_assessment("c2", samples=2, rows=[("Ada", 3)], display=Display(("name", "age")))
    ranking = vote([names, both], 4, most_samples=64)
    assert ranking.assessments[0].votes == 4
    assert not ranking.settled


def test_repaired_queries_that_agree_are_not_enough() -> None:
    repaired = Candidate("c1", "SELECT 1", samples=4, origin="repair")
    agreeing = build_assessment(candidate=repaired, rows=[(1,)])
    assert not vote([agreeing], 4, most_samples=8).settled


def test_a_sample_to_come_may_weigh_as_much_as_the_heaviest_so_far() -> None:
    heavy = build_assessment("c1", samples=1, score=162.5, rows=[(1,)])
    light = build_assessment("c2", samples=4, score=100.0, rows=[(2,)])
    # One more like c1 weighs exp(2.5) = 12.2, the lead is 12.2 - 4.
    assert not vote([heavy, light], 5, most_samples=6).settled
