"""The figures of a run, computed by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from evaluation.metrics.figures import Estimate, Percentiles, RepairFigures, Summary
from evaluation.metrics.metrics import summarize
from evaluation.runs.records import CandidateRecord, Preview, QuestionRecord, RepairRecord
from tests.evaluation.builders import build_record


def build_candidate(name: str, samples: int, correct: bool, **overrides: Any) -> CandidateRecord:
    values = {"id": name, "sql": "SELECT 1", "samples": samples, "correct": correct}
    return CandidateRecord(**{**values, **overrides})


def build_repair(method: str, outcome: str, before: bool, after: bool) -> RepairRecord:
    return RepairRecord(
        candidate="c1",
        cause="42703",
        method=method,
        outcome=outcome,
        correct_before=before,
        correct_after=after,
    )


def measure(*records: QuestionRecord, seconds: float = 60.0) -> Summary:
    return summarize(records, seconds=seconds, threshold=0.5)


def read_values(estimates: Mapping[Any, Estimate]) -> dict[Any, float]:
    return {name: estimate.value for name, estimate in estimates.items()}


def test_a_question_whose_gold_failed_is_named_and_counts_in_no_figure() -> None:
    found = measure(
        build_record("q1"),
        build_record("q2", correct=False),
        build_record("q3", gold_error="timeout", difficulty="hard", seconds=99.0),
    )
    assert (found.questions, found.counted) == (3, 2)
    assert found.gold_failed == (("q3", "timeout"),)
    assert (found.accuracy.value, found.accuracy.count) == (0.5, 2)
    assert found.seconds.p95 == 0.0
    assert "hard" not in found.by_difficulty
    assert found.questions_per_minute == 2.0


def test_a_question_at_which_the_pipeline_raised_is_named_and_wrong() -> None:
    failed = build_record("q2", outcome="error", reason="the prompt is too long", correct=False)
    found = measure(build_record("q1"), failed)
    assert found.errors == (("q2", "the prompt is too long"),)
    assert found.accuracy.value == 0.5
    assert found.outcomes == {"answered": 1, "error": 1}
    assert found.gold_empty == 0


def test_outcomes_are_ordered_from_answered_to_error() -> None:
    outcomes = ("failed", "answered", "error", "clarify", "refused", "answered")
    found = measure(*(build_record(outcome=outcome, correct=False) for outcome in outcomes))
    assert list(found.outcomes) == ["answered", "clarify", "refused", "failed", "error"]
    assert list(found.outcomes.values()) == [2, 1, 1, 1, 1]
    # A query that runs was found for answered and clarify.
    assert found.executes.value == pytest.approx(3 / 6)


def test_a_gold_result_without_rows_is_counted_as_empty() -> None:
    found = measure(
        build_record(gold_result=Preview(columns=("n",))),
        build_record(gold_result=Preview(columns=("n",), rows=((1,),), rows_in_all=1)),
    )
    assert found.gold_empty == 1


def test_the_other_comparisons_have_their_own_means() -> None:
    found = measure(
        build_record(bird_ex=True, soft_f1=0.5),
        build_record(correct=False, bird_ex=False, soft_f1=0.25),
    )
    assert (found.bird_ex.value, found.soft_f1.value) == (0.5, 0.375)


def test_first_sample_mean_sample_and_oracle() -> None:
    # 3 of 4 samples right, the first one too; then 1 of 4, and the first one wrong.
    first = (build_candidate("c1", 3, True), build_candidate("c2", 1, False))
    second = (build_candidate("c1", 3, False), build_candidate("c2", 1, True))
    found = measure(
        build_record(k=4, candidates=first),
        build_record(k=4, correct=False, candidates=second),
        build_record(k=4, correct=False, outcome="failed"),
    )
    assert found.first.value == pytest.approx(1 / 3)
    assert found.mean_sample.value == pytest.approx((3 / 4 + 1 / 4 + 0) / 3)
    assert found.accuracy.value == pytest.approx(1 / 3)
    assert found.oracle.value == pytest.approx(2 / 3)


def test_the_majority_and_the_vote_of_a_clarify() -> None:
    candidates = (
        build_candidate("c2", 1, True, group=0),
        build_candidate("c1", 3, False, group=1),
    )
    unsure: dict[str, Any] = {"outcome": "clarify", "correct": False, "confidence": 0.3}
    found = measure(build_record(k=4, candidates=candidates, **unsure))
    assert (found.accuracy.value, found.chosen.value) == (0.0, 1.0)
    assert found.majority is not None
    assert found.majority.value == 0.0
    assert found.selection is not None
    assert found.selection.difference.value == 1.0


def test_without_groups_there_is_no_majority() -> None:
    found = measure(build_record(candidates=(build_candidate("c1", 1, True),)))
    assert (found.majority, found.selection) == (None, None)


def test_a_repair_makes_samples_right_but_not_the_first_one() -> None:
    candidates = (
        build_candidate("c1r", 2, True, origin="repair", repairs="c1"),
        build_candidate("c1", 0, False, error="42703: no such column"),
    )
    found = measure(build_record(k=2, candidates=candidates))
    assert (found.first.value, found.mean_sample.value, found.oracle.value) == (0.0, 1.0, 1.0)


def test_each_record_has_its_own_k() -> None:
    six = build_record(k=6, candidates=(build_candidate("c1", 1, True),))
    one = build_record(k=1, candidates=(build_candidate("c1", 1, False),))
    found = measure(six, one)
    assert found.mean_sample.value == pytest.approx(1 / 12)


def test_difficulties_are_ordered_from_easy_to_unrated() -> None:
    ordered = "easy simple medium moderate challenging extra strange unrated".split()
    names = [name if name != "unrated" else "" for name in reversed(ordered)]
    found = measure(*(build_record(difficulty=difficulty) for difficulty in names))
    assert list(found.by_difficulty) == ordered


def test_groups_hold_the_accuracy_of_their_questions() -> None:
    found = measure(
        build_record(database="b", question="word " * 10),
        build_record(database="a", question="word " * 11, correct=False),
        build_record(database="b", question="word " * 21, correct=False),
        build_record(database="b", question="word " * 20),
    )
    counts = [(name, estimate.count) for name, estimate in found.by_database.items()]
    assert counts == [("a", 1), ("b", 3)]
    assert found.by_database["b"].value == pytest.approx(2 / 3)
    lengths = [("<=10", 1.0), ("11-15", 0.0), ("16-20", 1.0), (">20", 0.0)]
    assert list(read_values(found.by_length).items()) == lengths


def test_repairs_are_counted_by_method_all_of_them_first() -> None:
    found = measure(
        build_record(
            repairs=(
                build_repair("normalize", "fixed", before=False, after=True),
                build_repair("model", "failed", before=False, after=False),
            )
        ),
        build_record(repairs=(build_repair("autocorrect", "fixed", before=True, after=False),)),
    )
    assert list(found.repairs.items()) == [
        ("all", RepairFigures(tried=3, fixed=2, corrected=1, broken=1)),
        ("autocorrect", RepairFigures(tried=1, fixed=1, corrected=0, broken=1)),
        ("model", RepairFigures(tried=1, fixed=0, corrected=0, broken=0)),
        ("normalize", RepairFigures(tried=1, fixed=1, corrected=1, broken=0)),
    ]


def test_a_repair_by_several_rules_counts_for_each_the_most_frequent_first() -> None:
    both = {"rules": ("wrong_tables", "join_keys"), "error_class": "unknown_column"}
    healed = build_repair("autocorrect", "fixed", before=False, after=True)
    broken = build_repair("autocorrect", "fixed", before=True, after=False)
    found = measure(
        build_record(
            repairs=(
                healed.model_copy(update=both),
                broken.model_copy(update={"rules": ("join_keys",)}),
            )
        )
    )
    assert list(found.repair_rules.items()) == [
        ("join_keys", RepairFigures(tried=2, fixed=2, corrected=1, broken=1)),
        ("wrong_tables", RepairFigures(tried=1, fixed=1, corrected=1, broken=0)),
    ]
    assert found.repair_classes == {
        "unknown_column": RepairFigures(tried=1, fixed=1, corrected=1, broken=0)
    }


def test_the_own_time_leaves_out_the_model() -> None:
    stages = {"retrieve": 5.0, "generate": 900.0, "assess": 7.0, "repair": 800.0}
    found = measure(build_record(stages_ms=stages), build_record())
    assert found.own_ms == Percentiles(12.0, 12.0)


def test_a_stage_is_measured_where_it_ran() -> None:
    found = measure(
        build_record(stages_ms={"plan": 1.0}), build_record(stages_ms={"plan": 3.0, "repair": 9.0})
    )
    assert found.stages_ms == {"plan": Percentiles(1.0, 3.0), "repair": Percentiles(9.0, 9.0)}


def test_tokens_seconds_and_speed_are_those_of_the_questions() -> None:
    found = measure(
        build_record(prompt_tokens=100, completion_tokens=10, seconds=1.0),
        build_record(prompt_tokens=300, completion_tokens=20, seconds=3.0),
        seconds=4.0,
    )
    assert (found.prompt_tokens, found.completion_tokens) == (200.0, 15.0)
    assert found.seconds == Percentiles(1.0, 3.0)
    assert found.questions_per_minute == 30.0


def test_the_confidence_is_measured_over_all_that_count() -> None:
    found = measure(
        build_record(k=4, confidence=0.9),
        build_record(k=4, outcome="refused", correct=False),
        build_record(k=4, confidence=0.9, gold_error="timeout"),
    )
    assert found.confidence is not None
    assert found.confidence.at_threshold.coverage == 0.5


def test_a_run_without_records_has_no_figures() -> None:
    found = measure(seconds=0.0)
    assert (found.questions, found.accuracy.count, found.confidence) == (0, 0, None)
    assert (found.questions_per_minute, found.prompt_tokens) == (0.0, 0.0)
    assert found.by_database == {}
    assert found.own_ms == found.seconds == Percentiles(0.0, 0.0)
