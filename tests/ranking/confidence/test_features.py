"""What a confidence is read from."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from nl2sql.types import Assessment, Candidate, Ranking
from ranking.confidence.calibration import load_calibration
from ranking.confidence.features import measure_features
from ranking.score.score import score_result
from ranking.vote.order import vote
from tests.fakes import build_assessment, build_diagnostic


def measure(*assessments: Assessment, samples: int) -> dict[str, float]:
    return dict(measure_features(vote(assessments, samples)))


def test_the_vote_is_told_in_shares_of_all_samples() -> None:
    found = measure(
        build_assessment("c1", samples=4, rows=[(1,)], score=110.0),
        build_assessment("c2", samples=2, rows=[(2,)], score=90.0),
        build_assessment("c3", samples=1, diagnostic=build_diagnostic()),
        build_assessment("c4", samples=1, unrun="timeout"),
        samples=8,
    )
    assert found["agreement"] == 0.5
    assert found["executes"] == 0.75
    assert found["samples"] == 3.0
    assert 2 / 3 < found["weight"] < 1


@pytest.mark.parametrize(
    ("origin", "rows", "expected"),
    [("sample", [(1,)], (0, 0)), ("derived", [(1,)], (1, 0)), ("sample", [(0,)], (0, 1))],
)
def test_the_winner_tells_of_itself(
    origin: str, rows: list[tuple[int]], expected: tuple[int, int]
) -> None:
    candidate = Candidate("c1", "SELECT a FROM t", 2, origin)
    found = measure(build_assessment("c1", candidate=candidate, rows=rows), samples=2)
    assert (found["derived"], found["empty"]) == expected


def test_agreement_on_a_text_that_is_not_stored_is_not_sure() -> None:
    ranking = vote([build_assessment("c1", samples=8, rows=[(0,)], score=150.0)], 8)
    calibration = load_calibration()
    sure = calibration.estimate(measure_features(ranking))
    unsure = calibration.estimate(measure_features(ranking, is_unstored=True))
    assert 0.0001 < unsure < calibration.threshold < sure


def test_agreement_on_nothing_but_null_is_not_sure() -> None:
    found = build_assessment("c1", samples=8, rows=[(None,)], score=150.0)
    null = replace(found, score=score_result("Who reports to Ann?", found))
    sure, unsure = (
        load_calibration().estimate(measure_features(vote([each], 8))) for each in (found, null)
    )
    assert unsure < load_calibration().threshold < sure


def test_what_repairs_a_failure_of_samples_that_agree_has_their_agreement() -> None:
    agreeing = build_assessment("c1", samples=3, rows=[(None,)], score=50.0)
    other = build_assessment("c2", samples=1, rows=[(2,)], score=50.0)
    repairing = Candidate("d1", "SELECT b FROM t", 0, "derived", "", "c1", "nulls_last")
    repaired = build_assessment("d1", candidate=repairing, rows=[(1,)], score=200.0)
    assert measure(agreeing, repaired, samples=4)["agreement"] == 0.75
    assert measure(agreeing, other, repaired, samples=4)["agreement"] == 0


def test_the_lead_is_over_the_second_and_one_plain_sample() -> None:
    ahead = build_assessment("c1", samples=3, score=125.0, rows=[(1,)])
    behind = build_assessment("c2", samples=1, score=100.0, rows=[(2,)])
    found = measure(ahead, behind, samples=4)
    assert found["lead"] == pytest.approx(math.log(3 * math.e / 2), abs=1e-4)
    assert measure(ahead, samples=4)["lead"] == pytest.approx(math.log(3) + 1, abs=1e-4)


def test_without_a_winner_there_is_nothing_to_measure() -> None:
    broken = build_assessment("c1", diagnostic=build_diagnostic())
    assert measure_features(vote([broken], 1)) == ()
    assert measure_features(Ranking()) == ()
