"""The figures of a confidence, computed by hand."""

from __future__ import annotations

import random

import pytest

from evaluation.metrics.confidence import measure_confidence
from evaluation.metrics.figures import ConfidenceFigures, ReliabilityBin
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


def test_the_bins_hold_what_was_promised_and_what_was_kept() -> None:
    assert measure(FIVE).bins == (
        ReliabilityBin(0.2, 0.3, 0.2, 0.0, 1),
        ReliabilityBin(0.7, 0.8, 0.7, 0.5, 2),
        ReliabilityBin(0.9, 1.0, 0.9, 1.0, 1),
    )


def test_certainty_falls_into_the_last_bin() -> None:
    assert measure([build_answer(1.0, True)]).bins == (ReliabilityBin(0.9, 1.0, 1.0, 1.0, 1),)


def test_the_calibration_error_weighs_each_bin_by_its_answers() -> None:
    # 1/4 * |0 - 0.2| + 2/4 * |0.5 - 0.7| + 1/4 * |1 - 0.9|
    assert measure(FIVE).calibration_error == pytest.approx(0.05 + 0.1 + 0.025)


def test_risk_is_traced_from_the_most_confident_down_with_ties_together() -> None:
    # Of five questions: one answer, none wrong; three, one wrong; four, two wrong.
    assert measure(FIVE).risk_coverage == ((1 / 5, 0.0), (3 / 5, 1 / 3), (4 / 5, 2 / 4))


def test_the_order_of_the_questions_makes_no_difference() -> None:
    records = [build_answer(number % 3 / 4, number % 2 == 0) for number in range(12)]
    shuffled = random.Random(0).sample(records, len(records))
    assert measure(records) == measure(shuffled)


def test_abstention_answers_at_the_threshold_and_above() -> None:
    found = measure(FIVE, threshold=0.7).at_threshold
    assert (found.threshold, found.coverage) == (0.7, 3 / 5)
    assert found.accuracy.value == pytest.approx(2 / 3)
    assert found.accuracy.count == 3


def test_abstention_from_everything_has_no_accuracy() -> None:
    found = measure(FIVE, threshold=0.95).at_threshold
    assert (found.coverage, found.accuracy.count) == (0.0, 0)


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
    found = measure([*FIVE, known, unknown])
    assert found.bins[1] == ReliabilityBin(0.3, 0.4, 0.3, 1.0, 1)
    assert sum(part.count for part in found.bins) == 5


def test_one_sample_a_question_has_no_confidence() -> None:
    assert measure_confidence([build_answer(0.2, True, k=1)] * 2, 0.5) is None


def test_no_answer_has_no_confidence() -> None:
    assert measure_confidence([build_record(outcome="failed", k=4)], 0.5) is None
    assert measure_confidence([], 0.5) is None
