"""The fit of the confidence: what it finds, and that nothing judges itself."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

from evaluation.metrics.calibration_fit import (
    Case,
    assign_folds,
    collect_cases,
    cross_fit,
    fit_calibration,
    measure_fit,
    render_calibration,
)
from evaluation.runs.records import CandidateRecord
from ranking.confidence.calibration import Calibration, parse_calibration
from tests.evaluation.builders import build_record


def draw(count: int, seed: int = 0) -> list[Case]:
    """Cases of eight databases that are right with the chance of their agreement."""
    generator = random.Random(seed)
    cases = []
    for number in range(count):
        agreement = generator.choice([0.25, 0.5, 0.75, 1.0])
        noise = generator.random()
        features = {"agreement": agreement, "cosine": noise, "samples": 2.0}
        right = generator.random() < agreement
        cases.append(Case(f"q{number}", f"db{number % 8}", features, right))
    return cases


def read_weights(calibration: Calibration) -> dict[str, float]:
    return {term.feature: term.weight for term in calibration.weights}


def test_the_fit_finds_what_tells_right_from_wrong() -> None:
    found = fit_calibration(draw(2000))
    weights = read_weights(found)
    assert weights["agreement"] > 0.8
    assert abs(weights["cosine"]) < 0.15
    # What never differs tells nothing.
    assert "samples" not in weights
    for share in (0.25, 0.75):
        # The cosine counts as its mean.
        estimate = found.estimate((("agreement", share), ("samples", 2.0)))
        assert estimate == pytest.approx(share, abs=0.08)
    assert (found.fewest, found.most) == (4, 4)


def test_no_database_has_a_part_in_its_own_confidence() -> None:
    cases = draw(400)
    folds = assign_folds([case.database for case in cases], 4)
    before = cross_fit(cases, folds)
    changed = [
        replace(case, right=not case.right) if case.database == "db0" else case for case in cases
    ]
    after = cross_fit(changed, folds)
    for case, one, other in zip(cases, before, after, strict=True):
        if case.database == "db0":
            assert one.confidence == other.confidence
    assert any(one.confidence != other.confidence for one, other in zip(before, after, strict=True))


def test_the_figures_are_of_confidences_that_were_fitted_without_the_question() -> None:
    figures = measure_fit(draw(2000), 2500, risk=0.4)
    assert figures.answered == 2000
    assert figures.confidence.calibration_error < 0.06
    assert figures.confidence.auroc > 0.7
    assert figures.is_safe
    assert figures.folds == "databases"
    assert figures.honest_accuracy.value == pytest.approx(0.65, abs=0.08)
    assert 0.2 < figures.honest_coverage < 0.8


def test_a_few_cases_move_the_intercept_of_a_start_and_hardly_its_weights() -> None:
    start = fit_calibration(draw(2000))
    # Of another kind, all answers are wrong twice as often.
    generator = random.Random(1)
    other = [
        replace(case, right=case.right and generator.random() < 0.4) for case in draw(60, seed=3)
    ]
    moved = fit_calibration(other, start)
    assert moved.intercept < start.intercept - 0.5
    assert read_weights(moved) == pytest.approx(read_weights(start), abs=0.4)
    assert read_weights(fit_calibration([], start)) == pytest.approx(read_weights(start))


def test_what_is_written_is_what_the_service_reads() -> None:
    found = fit_calibration(draw(300))
    read = parse_calibration(json.dumps(render_calibration(found, {"runs": ["one"]})))
    features = (("agreement", 0.75), ("cosine", 0.1), ("samples", 2.0))
    assert read.estimate(features) == pytest.approx(found.estimate(features), abs=1e-3)


def test_cases_are_answers_that_say_what_was_measured_and_right_if_a_person_accepts_them() -> None:
    trace: dict[str, Any] = {"features": {"agreement": 1.0}}
    wrong = CandidateRecord(id="c1", sql="", group=0)
    records = [
        build_record("q1", trace=trace, k=4, confidence=0.5, correct=False, accepted=True),
        build_record("q2", k=4),
        build_record("q3", trace=trace, outcome="failed", k=4),
        build_record("q4", trace=trace, gold_error="no gold", k=4),
        build_record("q2b", trace=trace, k=4, confidence=0.5, accepted=False),
        build_record(
            "q5",
            trace=trace,
            outcome="clarify",
            correct=False,
            k=4,
            candidates=(wrong,),
            confidence=0.1,
        ),
    ]
    found = [(case.question, case.right) for case in collect_cases(records)]
    assert found == [("q1", True), ("q2b", False), ("q5", False)]
