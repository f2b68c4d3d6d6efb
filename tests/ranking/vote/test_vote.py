"""The vote: weights, ties, quorum and confidence."""

from __future__ import annotations

import math
from typing import Any

import pytest

from nl2sql.types import Assessment, Candidate, Display, Explained, Finding, Ranking
from ranking.vote.order import vote
from tests.fakes import build_assessment, build_diagnostic, build_violation


def order(ranking: Ranking) -> list[str]:
    return [assessment.candidate.id for assessment in ranking.assessments]


def count_votes(ranking: Ranking) -> list[tuple[int, int]]:
    """Group and votes of each candidate."""
    return [(assessment.group, assessment.votes) for assessment in ranking.assessments]


def test_equivalent_results_vote_together_with_their_samples() -> None:
    ranking = vote(
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
    ("first", "second", "expected"),
    [
        pytest.param({"score": 90.0}, {"score": 100.0}, ["c10", "c9"], id="score"),
        pytest.param({"cost": 20.0}, {"cost": 5.0}, ["c10", "c9"], id="cost"),
        pytest.param({"cost": None}, {"cost": 5.0}, ["c10", "c9"], id="unknown_cost"),
        pytest.param({"score": 100.0, "cost": 9.0}, {"score": 90.0, "cost": 1.0}, ["c9", "c10"],
                     id="score_before_cost"),
        pytest.param({}, {}, ["c9", "c10"], id="id"),
    ],
)  # fmt: skip
def test_a_tie_is_broken(
    first: dict[str, Any], second: dict[str, Any], expected: list[str]
) -> None:
    one = build_assessment("c9", rows=[(1,)], **first)
    two = build_assessment("c10", rows=[(2,)], **second)
    assert order(vote([one, two], 2)) == expected
    assert order(vote([two, one], 2)) == expected


def test_failures_come_last_and_have_no_vote() -> None:
    broken = build_assessment("c1", samples=9, score=500.0, diagnostic=build_diagnostic())
    refused = build_assessment("c2", samples=9, verdict=build_violation())
    good = build_assessment("c3", rows=[(1,)])
    ranking = vote([broken, refused, good], 19)
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
    ranking = vote(assessments, 4)
    assert ranking.winner is None
    assert not ranking.quorum
    assert ranking.confidence == 0.0


def test_a_sample_counts_by_the_score_of_its_candidate() -> None:
    many = build_assessment("c1", samples=3, score=90.0, rows=[(1,)])
    fine = build_assessment("c2", samples=2, score=110.0, rows=[(2,)])
    # 3 exp(-0.4) = 2.01 against 2 exp(0.4) = 2.98.
    ranking = vote([many, fine], 5)
    assert order(ranking) == ["c2", "c1"]
    assert [assessment.weight for assessment in ranking.assessments] == pytest.approx(
        [2.9836, 2.0110], abs=1e-4
    )
    # What is shown, and what makes a quorum, are samples.
    assert [assessment.votes for assessment in ranking.assessments] == [2, 3]


def test_what_more_samples_wrote_is_shown_for_an_equal_result() -> None:
    rare, usual = (
        build_assessment(name, rows=[(1,)], samples=samples)
        for name, samples in (("c1", 1), ("c2", 2))
    )
    assert order(vote([rare, usual], 3)) == ["c2", "c1"]


def derive(name: str, parent: str, score: float, *rows: tuple[object, ...]) -> Assessment:
    """A candidate derived from another."""
    candidate = Candidate(name, name, 0, "derived", derived_from=parent, rule="fewer_joins")
    return build_assessment(name, rows=rows, score=score, candidate=candidate)


def test_a_derived_candidate_weighs_as_the_samples_it_goes_back_to_and_takes_none() -> None:
    drawn = build_assessment("c1", samples=3, rows=[(1,)])
    other = build_assessment("c2", samples=1, rows=[(9,)])
    better = derive("c1d", "c1", 125.0, (2,))
    again = derive("c1dd", "c1d", 75.0, (3,))
    ranking = vote([drawn, better, again, other], 4)
    assert order(ranking) == ["c1d", "c1", "c1dd", "c2"]
    weights = [assessment.weight for assessment in ranking.assessments]
    assert weights == pytest.approx([3 * math.e, 3.0, 3 / math.e, 1.0], abs=1e-5)
    assert [assessment.votes for assessment in ranking.assessments] == [0, 3, 0, 1]
    assert not ranking.quorum


def test_a_sample_votes_once_for_a_result() -> None:
    drawn = build_assessment("c1", samples=3, rows=[(1,)])
    same = [derive("c1d", "c1", 100.0, (2,)), derive("c1e", "c1", 125.0, (2,))]
    other = build_assessment("c2", samples=1, rows=[(2,)])
    ranking = vote([drawn, *same, other], 4)
    weights = [assessment.weight for assessment in ranking.assessments]
    assert weights == pytest.approx([3 * math.e + 1] * 3 + [3.0], abs=1e-5)


def test_what_a_rule_changes_without_effect_adds_no_weight_and_is_not_shown() -> None:
    drawn = build_assessment("c1", samples=3, rows=[(1,)])
    ranking = vote([drawn, derive("c1d", "c1", 125.0, (1,))], 3)
    assert order(ranking) == ["c1", "c1d"]
    assert [assessment.weight for assessment in ranking.assessments] == [3.0, 3.0]


def test_what_goes_back_to_a_replaced_or_unknown_candidate_weighs_as_one_sample() -> None:
    replaced = build_assessment("c1", samples=0, diagnostic=build_diagnostic())
    ranking = vote([replaced, derive("d1", "c1", 100.0, (1,)), derive("d2", "c9", 90.0, (2,))], 4)
    weights = [assessment.weight for assessment in ranking.assessments]
    assert weights == pytest.approx([1.0, math.exp(-0.4), 0.0], abs=1e-5)


def test_what_was_not_run_votes_alone_and_cannot_win_where_it_must_not_run() -> None:
    plan = Explained(1e9, 1e9)
    forbidden = [
        build_assessment(name, diagnostic=build_diagnostic(), explained=plan, unrun="estimate")
        for name in ("c1", "c2")
    ]
    good = build_assessment("c3", rows=[(1,)])
    ranking = vote([*forbidden, good], 3)
    assert order(ranking) == ["c3", "c1", "c2"]
    assert count_votes(ranking) == [(0, 1), (1, 1), (2, 1)]
    assert not ranking.quorum


def test_what_the_budget_left_out_leads_if_it_has_the_votes() -> None:
    late = build_assessment("c1", samples=3, unrun="budget")
    run = build_assessment("c2", rows=[(1,)])
    ranking = vote([run, late], 4)
    assert order(ranking) == ["c1", "c2"]
    assert ranking.quorum
    assert ranking.winner is not None
    assert ranking.winner.candidate.id == "c2"


# -- when another sample is not worth its time -----------------------------------------------------

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
