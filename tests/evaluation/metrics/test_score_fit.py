"""The fit of the score: what it finds, and that no database judges itself."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from bench.fit_score import Ballot, Option, TermPoints, collect_ballots, fit_score
from evaluation.runs.records import CandidateRecord
from ranking.score.points import SCALE
from tests.evaluation.builders import build_record

BEFORE = {
    "good": TermPoints(0.0, 0.0),
    "noise": TermPoints(0.0, 0.0),
    "rare": TermPoints(12.0, 12.0),
    "kept": TermPoints(-50.0, -50.0, fixed=True),
}


def draw(count: int, strength: float = 1.0, seed: int = 0) -> list[Ballot]:
    """Two results each, of which the one with ``good`` is right with odds of e to ``strength``."""
    generator = random.Random(seed)
    ballots = []
    for number in range(count):
        options = tuple(
            Option(group, f"c{group}", 1, {"noise": generator.random(), **terms})
            for group, terms in ((0, {"good": 1.0}), (1, {"kept": 0.5} if number % 2 else {}))
        )
        # What is fixed takes part in the odds.
        odds = strength + (1.0 if number % 2 else 0.0)
        right = 0 if generator.random() < 1 / (1 + math.exp(-odds)) else 1
        ballots.append(Ballot(f"q{number}", f"db{number % 8}", options, frozenset({right})))
    return ballots


def test_the_points_are_the_logarithm_of_the_odds() -> None:
    points = fit_score(draw(1500), BEFORE, 2).points
    assert points["good"].points == pytest.approx(SCALE, rel=0.15)
    assert points["noise"].points == pytest.approx(0.0, abs=5.0)


def test_no_database_has_a_part_in_the_points_that_judge_it() -> None:
    # In db0 alone the term tells the opposite, and does not help itself.
    ballots = [
        Ballot(ballot.question, ballot.database, ballot.options, frozenset({1}))
        if ballot.database == "db0"
        else Ballot(ballot.question, ballot.database, ballot.options, frozenset({0}))
        for ballot in draw(400)
    ]
    fit = fit_score(ballots, BEFORE, 8)
    for ballot, right in zip(ballots, fit.after, strict=True):
        assert right is (ballot.database != "db0")


def test_ballots_hold_what_ran_with_the_samples_it_votes_with() -> None:
    def trace(name: str, **strengths: float) -> dict[str, Any]:
        return {"id": name, "score": {"strengths": {"base": 1.0, **strengths}}}

    candidates = (
        CandidateRecord(id="c1", sql="", samples=3, group=0, correct=False),
        CandidateRecord(
            id="d1", sql="", samples=0, origin="derived", derived_from="c1", rule="fewer_joins",
            group=1, correct=True,
        ),
        CandidateRecord(id="c2", sql="", samples=1, group=-1),
    )  # fmt: skip
    shown = {"candidates": [trace("c1", no_rows=1.0), trace("d1", derived=1.0), trace("c2")]}
    record = build_record("q1", trace=shown, candidates=candidates)
    (ballot,) = collect_ballots([record, build_record("q2", gold_error="no gold")])
    assert ballot.options == (
        Option(0, "c1", 3, {"no_rows": 1.0}),
        Option(1, "c1", 3, {"derived": 1.0}),
    )
    assert ballot.right == {1}
    assert ballot.is_contested
