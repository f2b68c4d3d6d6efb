"""The figures of a confidence, computed by hand, and the level that a chosen threshold keeps."""

from __future__ import annotations

import random
from statistics import fmean

import pytest
from scipy.stats import binom

from evaluation.metrics.confidence import (
    Claim,
    bound_risk,
    count_fewest,
    expect_chance_error,
    find_safe_threshold,
    measure_calibration_error,
    measure_confidence,
)
from evaluation.metrics.figures import ConfidenceFigures
from evaluation.runs.records import CandidateRecord, QuestionRecord
from tests.evaluation.builders import build_record


def build_answer(confidence: float, correct: bool, k: int = 4) -> QuestionRecord:
    return build_record(confidence=confidence, correct=correct, k=k)


def measure(records: list[QuestionRecord], threshold: float = 0.5) -> ConfidenceFigures:
    figures = measure_confidence(records, threshold)
    assert figures is not None
    return figures


FIVE = [
    build_answer(0.9, True),
    build_answer(0.7, False),
    build_answer(0.7, True),
    build_answer(0.2, False),
    build_record(outcome="failed", correct=False, k=4),
]


def test_the_calibration_error_weighs_the_bins_by_their_answers() -> None:
    # 1/4 * |0 - 0.2| + 2/4 * |0.5 - 0.7| + 1/4 * |1 - 0.9|
    assert measure(FIVE).calibration_error == pytest.approx(0.05 + 0.1 + 0.025)
    assert measure([build_answer(1.0, True)]).calibration_error == 0.0


def test_the_error_by_chance_is_what_a_perfect_confidence_shows_on_so_few_questions() -> None:
    chance = random.Random(1)
    levels = [0.05, 0.35, 0.55, 0.75, 0.93] * 12
    perfect = [[Claim(level, chance.random() < level) for level in levels] for _ in range(500)]
    measured = fmean(map(measure_calibration_error, perfect))
    assert expect_chance_error(perfect[0]) == pytest.approx(measured, rel=0.1)


def test_risk_is_traced_from_the_most_confident_down_with_ties_together() -> None:
    # Of five questions: one answer, none wrong; three, one wrong; four, two wrong.
    assert measure(FIVE).risk_coverage == ((1 / 5, 0.0), (3 / 5, 1 / 3), (4 / 5, 2 / 4))
    assert measure(FIVE[::-1]) == measure(FIVE)


def test_abstention_answers_at_the_threshold_and_above() -> None:
    found = measure(FIVE, threshold=0.7).at_threshold
    assert (found.threshold, found.coverage) == (0.7, 3 / 5)
    assert found.accuracy.value == pytest.approx(2 / 3)
    nothing = measure(FIVE, threshold=0.95).at_threshold
    assert (nothing.coverage, nothing.accuracy.count) == (0.0, 0)


def test_a_clarification_counts_by_the_answer_it_would_have_got() -> None:
    candidates = (
        CandidateRecord(id="c2", sql="", group=-1),
        CandidateRecord(id="c1", sql="", group=0, correct=True),
        CandidateRecord(id="c3", sql="", group=1),
    )
    known = build_record(
        outcome="clarify", correct=False, confidence=0.3, k=4, candidates=candidates
    )
    unknown = build_record(outcome="clarify", correct=False, k=4, candidates=candidates)
    found = measure([*FIVE, known, unknown], threshold=0.3)
    # Four of seven by themselves, the clarification with them, and nothing of the unknown one.
    assert found.at_threshold.coverage == pytest.approx(4 / 7)
    assert found.at_threshold.accuracy.value == pytest.approx(3 / 4)
    assert found.risk_coverage[-1] == (5 / 7, 2 / 5)


def test_neither_one_sample_a_question_nor_no_answer_has_a_confidence() -> None:
    assert measure_confidence([build_answer(0.2, True, k=1)] * 2, 0.5) is None
    assert measure_confidence([build_record(outcome="failed", k=4)], 0.5) is None
    assert measure_confidence([], 0.5) is None


@pytest.mark.parametrize(("wrong", "answered"), [(0, 29), (3, 40), (17, 300)])
def test_a_larger_risk_than_the_bound_would_show_so_few_wrong_in_one_of_twenty(
    wrong: int, answered: int
) -> None:
    assert binom.cdf(wrong, answered, bound_risk(wrong, answered)) == pytest.approx(0.05)


def test_the_fewest_answers_are_those_that_show_the_risk_with_none_wrong() -> None:
    fewest = count_fewest(0.1)
    assert bound_risk(0, fewest) <= 0.1 < bound_risk(0, fewest - 1)
    assert find_safe_threshold([Claim(0.9, True)] * (fewest - 1), 0.1) is None
    assert find_safe_threshold([Claim(0.9, True)] * fewest, 0.1) == 0.9


def test_a_chosen_threshold_keeps_the_risk_in_nineteen_of_twenty_samples() -> None:
    generator = random.Random(0)
    exceeded = chosen = 0
    for _ in range(300):
        claims = []
        for _ in range(300):
            chance = generator.random()
            claims.append(Claim(chance, generator.random() < chance))
        threshold = find_safe_threshold(claims, 0.2)
        if threshold is not None:
            chosen += 1
            # The mean of 1 - chance above the threshold.
            exceeded += (1 - threshold) / 2 > 0.2
    assert chosen > 100
    assert exceeded / 300 < 0.08
