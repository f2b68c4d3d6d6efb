"""The vote: weights, ties, quorum and confidence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from nl2sql.settings.ranking import RankingSettings
from nl2sql.types import Assessment, Candidate, Explained, Ranking
from ranking.vote.order import vote
from tests.fakes import build_assessment, build_diagnostic, build_violation


def decide(assessments: Sequence[Assessment], samples: int, **settings: float) -> Ranking:
    """The vote by samples, with the factors that are named."""
    chosen = RankingSettings.model_validate({"vote_score_weight": 0.0, **settings})
    return vote(assessments, samples, chosen)


def order(ranking: Ranking) -> list[str]:
    return [assessment.candidate.id for assessment in ranking.assessments]


def count_votes(ranking: Ranking) -> list[tuple[int, int]]:
    """Group and votes of each candidate."""
    return [(assessment.group, assessment.votes) for assessment in ranking.assessments]


def test_equivalent_results_vote_together_with_their_samples() -> None:
    ranking = decide(
        [
            build_assessment("c1", samples=3, rows=[(1, "a")]),
            build_assessment("c2", samples=2, rows=[("b", 2)]),
            build_assessment("c3", samples=2, rows=[(2, "b")]),
        ],
        samples=7,
    )
    assert order(ranking) == ["c2", "c3", "c1"]
    assert count_votes(ranking) == [(1, 4), (1, 4), (0, 3)]


@pytest.mark.parametrize(
    "rows", [[], [(0,)], [(None,)], [(0, None)]], ids=["no_rows", "zero", "null", "zero_and_null"]
)
def test_a_result_that_says_nothing_has_half_its_weight(rows: list[tuple[object, ...]]) -> None:
    nothing = build_assessment("c1", samples=3, rows=rows)
    for samples, expected in ((2, ["c2", "c1"]), (1, ["c1", "c2"])):
        other = build_assessment("c2", samples=samples, rows=[(5,)])
        assert order(decide([nothing, other], 3 + samples)) == expected


@pytest.mark.parametrize(
    "rows", [[(0,), (0,)], [(0, 1)], [("x",)]], ids=["two_rows", "one_value", "text"]
)
def test_a_result_that_says_something_has_its_whole_weight(rows: list[tuple[object, ...]]) -> None:
    something = build_assessment("c1", samples=3, rows=rows)
    other = build_assessment("c2", samples=2, rows=[(5,)])
    assert order(decide([something, other], 5)) == ["c1", "c2"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        pytest.param({"score": 90.0}, {"score": 100.0}, ["c2", "c1"], id="score"),
        pytest.param({"cost": 20.0}, {"cost": 5.0}, ["c2", "c1"], id="cost"),
        pytest.param({"cost": None}, {"cost": 5.0}, ["c2", "c1"], id="unknown_cost"),
        pytest.param({"score": 100.0, "cost": 9.0}, {"score": 90.0, "cost": 1.0}, ["c1", "c2"],
                     id="score_before_cost"),
        pytest.param({}, {}, ["c1", "c2"], id="id"),
    ],
)  # fmt: skip
def test_a_tie_is_broken(
    first: dict[str, Any], second: dict[str, Any], expected: list[str]
) -> None:
    one = build_assessment("c1", rows=[(1,)], **first)
    two = build_assessment("c2", rows=[(2,)], **second)
    assert order(decide([one, two], 2)) == expected
    assert order(decide([two, one], 2)) == expected


def test_the_vote_stands_above_the_score() -> None:
    many = build_assessment("c1", samples=2, score=10.0, rows=[(1,)])
    fine = build_assessment("c2", samples=1, score=190.0, rows=[(2,)])
    assert order(decide([fine, many], 3)) == ["c1", "c2"]


@pytest.mark.parametrize(
    ("agreeing", "samples", "quorum"),
    [(1, 1, False), (2, 2, True), (2, 3, True), (2, 4, False), (3, 4, True), (4, 8, False)],
)
def test_a_quorum_is_more_than_half_of_at_least_two(
    agreeing: int, samples: int, quorum: bool
) -> None:
    winner = build_assessment("c1", samples=agreeing, rows=[(1,)])
    assert decide([winner], samples).quorum is quorum


@pytest.mark.parametrize(
    ("agreeing", "samples", "low"), [(1, 1, 0.2065), (4, 4, 0.5101), (2, 4, 0.15), (8, 8, 0.6756)]
)
def test_the_confidence_is_the_low_end_of_the_wilson_interval(
    agreeing: int, samples: int, low: float
) -> None:
    winner = build_assessment("c1", samples=agreeing, rows=[(1,)])
    assert decide([winner], samples).confidence == pytest.approx(low, abs=5e-5)


def test_failures_come_last_and_have_no_vote() -> None:
    broken = build_assessment("c1", samples=9, score=500.0, diagnostic=build_diagnostic())
    refused = build_assessment("c2", samples=9, verdict=build_violation())
    good = build_assessment("c3", rows=[(1,)])
    ranking = decide([broken, refused, good], 19)
    assert ranking.winner is not None
    assert ranking.winner.candidate.id == "c3"
    assert order(ranking)[0] == "c3"
    assert count_votes(ranking)[1:] == [(-1, 0), (-1, 0)]


@pytest.mark.parametrize(
    "assessments",
    [[], [build_assessment("c1", samples=4, diagnostic=build_diagnostic())]],
    ids=["nothing", "only_failures"],
)
def test_without_a_result_there_is_no_quorum_and_no_confidence(
    assessments: list[Assessment],
) -> None:
    ranking = decide(assessments, 4)
    assert ranking.winner is None
    assert not ranking.quorum
    assert ranking.confidence == 0.0


def test_a_candidate_without_samples_adds_no_votes() -> None:
    replaced = build_assessment("c1", samples=0, rows=[(1,)])
    repair = build_assessment("c1r", samples=2, rows=[(1,)])
    ranking = decide([replaced, repair], 2)
    assert {assessment.votes for assessment in ranking.assessments} == {2}


def test_a_score_counts_where_it_has_a_weight() -> None:
    many = build_assessment("c1", samples=3, score=80.0, rows=[(1,)])
    fine = build_assessment("c2", samples=2, score=120.0, rows=[(2,)])
    assert order(decide([many, fine], 5, vote_score_weight=0.0)) == ["c1", "c2"]
    # 3 exp(-0.4) = 2.01 against 2 exp(0.4) = 2.98.
    ranking = decide([many, fine], 5, vote_score_weight=2.0)
    assert order(ranking) == ["c2", "c1"]
    assert [assessment.weight for assessment in ranking.assessments] == pytest.approx(
        [2.9836, 2.0110], abs=1e-4
    )
    # What is shown, and what makes a quorum, are samples.
    assert [assessment.votes for assessment in ranking.assessments] == [2, 3]


def test_a_likely_query_counts_more_where_that_has_a_weight() -> None:
    def build(name: str, logprob: float, rows: list[tuple[object, ...]]) -> Assessment:
        candidate = Candidate(name, f"SELECT {name}", samples=1, logprob=logprob)
        return build_assessment(name, rows=rows, candidate=candidate)

    unlikely, likely = build("c1", -0.9, [(1,)]), build("c2", -0.1, [(2,)])
    assert order(decide([unlikely, likely], 2, vote_logprob_weight=1.0)) == ["c2", "c1"]
    # Without a weight it still breaks the tie.
    assert order(decide([unlikely, likely], 2)) == ["c2", "c1"]


def test_a_repair_counts_less_where_that_has_a_weight() -> None:
    repaired = build_assessment(
        "c1r", rows=[(1,)], candidate=Candidate("c1r", "a", 3, "repair", "c1")
    )
    sampled = build_assessment("c2", samples=2, rows=[(2,)])
    assert order(decide([repaired, sampled], 5)) == ["c1r", "c2"]
    assert order(decide([repaired, sampled], 5, vote_repair_weight=0.5)) == ["c2", "c1r"]


def test_what_was_not_run_votes_with_its_plan_and_cannot_win_where_it_must_not_run() -> None:
    plan = Explained(1e9, 1e9, "plan")
    forbidden = [
        build_assessment(name, diagnostic=build_diagnostic(), explained=plan, unrun="estimate")
        for name in ("c1", "c2")
    ]
    good = build_assessment("c3", rows=[(1,)])
    ranking = decide([*forbidden, good], 3)
    assert order(ranking) == ["c3", "c1", "c2"]
    assert count_votes(ranking) == [(0, 1), (1, 2), (1, 2)]
    assert not ranking.quorum


def test_what_the_budget_left_out_leads_if_it_has_the_votes() -> None:
    late = build_assessment("c1", samples=3, unrun="budget")
    run = build_assessment("c2", rows=[(1,)])
    ranking = decide([run, late], 4)
    assert order(ranking) == ["c1", "c2"]
    assert ranking.quorum
    assert ranking.winner is not None
    assert ranking.winner.candidate.id == "c2"
