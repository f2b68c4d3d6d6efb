"""The figures of a run, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.metrics.figures import Percentiles, RepairFigures, Summary
from evaluation.metrics.metrics import summarize
from evaluation.metrics.pairing import is_majority_correct
from evaluation.runs.records import CandidateRecord, Preview, QuestionRecord, RepairRecord
from tests.evaluation.builders import build_record


def build(name: str, samples: int, correct: bool = False, **overrides: Any) -> CandidateRecord:
    values = {"id": name, "sql": "SELECT 1", "samples": samples, "correct": correct}
    return CandidateRecord(**{**values, **overrides})


def build_repair(method: str, before: bool, after: bool, **overrides: Any) -> RepairRecord:
    values = {"candidate": "c1", "cause": "42703", "method": method, "outcome": "fixed"}
    return RepairRecord(**{**values, "correct_before": before, "correct_after": after, **overrides})


def measure(*records: QuestionRecord, seconds: float = 60.0) -> Summary:
    return summarize(records, seconds=seconds, threshold=0.5)


def test_a_question_whose_gold_failed_is_named_and_counts_in_no_figure() -> None:
    found = measure(
        build_record("q1", k=4, confidence=0.9),
        build_record("q2", k=4, outcome="refused", correct=False),
        build_record("q3", k=4, confidence=0.9, gold_error="timeout", difficulty="hard"),
    )
    assert (found.questions, found.counted) == (3, 2)
    assert found.gold_failed == (("q3", "timeout"),)
    assert (found.accuracy.value, found.accuracy.count) == (0.5, 2)
    assert "hard" not in found.by_difficulty
    assert found.questions_per_minute == 2.0
    assert found.confidence is not None
    assert found.confidence.at_threshold.coverage == 0.5


def test_a_question_at_which_the_pipeline_raised_is_named_and_wrong() -> None:
    failed = build_record("q2", outcome="error", reason="the prompt is too long", correct=False)
    found = measure(build_record("q1"), failed)
    assert found.errors == (("q2", "the prompt is too long"),)
    assert found.accuracy.value == 0.5
    assert found.gold_empty == 0


def test_empty_golds_are_counted() -> None:
    found = measure(
        build_record(gold_result=Preview(columns=("n",))),
        build_record(gold_result=Preview(columns=("n",), rows=((1,),), rows_in_all=1)),
    )
    assert found.gold_empty == 1


def test_first_sample_and_oracle_and_a_repair_is_no_first_sample() -> None:
    repaired = (
        build("c1r", 2, True, origin="repair", repairs="c1"),
        build("c1", 0, error="42703: no such column"),
    )
    found = measure(
        build_record(k=4, candidates=(build("c1", 3, True), build("c2", 1))),
        build_record(k=4, correct=False, candidates=(build("c1", 3), build("c2", 1, True))),
        build_record(k=4, candidates=repaired),
        build_record(k=4, correct=False, outcome="failed"),
    )
    assert found.first.value == pytest.approx(1 / 4)
    assert found.oracle.value == pytest.approx(3 / 4)
    assert found.majority is None


def test_the_vote_of_a_clarify_and_the_majority() -> None:
    candidates = (build("c2", 1, True, group=0), build("c1", 3, group=1))
    unsure: dict[str, Any] = {"outcome": "clarify", "correct": False, "confidence": 0.3}
    found = measure(build_record(k=4, candidates=candidates, **unsure))
    assert (found.accuracy.value, found.chosen.value) == (0.0, 1.0)
    assert found.majority is not None
    assert found.majority.value == 0.0
    assert measure(build_record(outcome="refused", correct=False)).chosen.value == 0.0


@pytest.mark.parametrize(
    ("candidates", "right"),
    [
        # Ranked first, but one of four.
        ((build("c2", 1, group=0), build("c1", 3, True, group=1)), True),
        # Two queries with the same result outvote one that was drawn twice.
        (
            (build("c1", 2, group=0), build("c2", 1, True, group=1), build("c3", 2, True, group=1)),
            True,
        ),
        # Of equally many, the one drawn first; the tenth comes after the second.
        ((build("c10", 2, group=0), build("c2", 2, True, group=1)), True),
        # A repair has the samples of what it repairs.
        ((build("c1", 0), build("c2", 1, group=0), build("c1r", 3, True, group=1)), True),
        ((build("c1", 4),), False),
        ((), False),
    ],
)
def test_the_majority_counts_samples_by_result(
    candidates: tuple[CandidateRecord, ...], right: bool
) -> None:
    assert is_majority_correct(build_record(k=4, candidates=candidates)) is right


def test_groups_hold_the_accuracy_of_their_questions_from_easy_to_unrated() -> None:
    ordered = "easy simple medium moderate challenging extra strange unrated".split()
    names = [name if name != "unrated" else "" for name in reversed(ordered)]
    found = measure(
        *(build_record(difficulty=name, database="b") for name in names),
        build_record(database="a", correct=False),
    )
    assert list(found.by_difficulty) == ordered
    assert found.by_difficulty["unrated"].value == 0.5
    counts = [(name, one.count, one.value) for name, one in found.by_database.items()]
    assert counts == [("a", 1, 0.0), ("b", 8, 1.0)]


def test_a_repair_by_several_rules_counts_for_each_the_most_frequent_first() -> None:
    found = measure(
        build_record(
            repairs=(
                build_repair(
                    "autocorrect",
                    before=False,
                    after=True,
                    rules=("wrong_tables", "join_keys"),
                    error_class="unknown_column",
                ),
                build_repair("autocorrect", before=True, after=False, rules=("join_keys",)),
            )
        ),
        build_record(repairs=(build_repair("model", False, False, outcome="failed"),)),
    )
    assert found.repairs == {
        "autocorrect": RepairFigures(tried=2, fixed=2, corrected=1, broken=1),
        "model": RepairFigures(tried=1, fixed=0, corrected=0, broken=0),
    }
    assert list(found.repair_rules.items()) == [
        ("join_keys", RepairFigures(tried=2, fixed=2, corrected=1, broken=1)),
        ("wrong_tables", RepairFigures(tried=1, fixed=1, corrected=1, broken=0)),
    ]
    assert found.repair_classes == {
        "unknown_column": RepairFigures(tried=1, fixed=1, corrected=1, broken=0)
    }


def test_times_are_of_the_questions_in_which_a_stage_ran_and_leave_out_the_model() -> None:
    found = measure(
        build_record(stages_ms={"plan": 1.0, "generate": 900.0}, seconds=1.0, prompt_tokens=100),
        build_record(stages_ms={"plan": 3.0, "repair": 9.0}, seconds=3.0, completion_tokens=20),
        seconds=4.0,
    )
    assert found.stages_ms["plan"] == found.own_ms == Percentiles(1.0, 3.0)
    assert found.stages_ms["repair"] == Percentiles(9.0, 9.0)
    assert (found.prompt_tokens, found.completion_tokens) == (50.0, 10.0)
    assert found.seconds == Percentiles(1.0, 3.0)
    assert found.questions_per_minute == 30.0


def test_a_run_without_records_has_no_figures() -> None:
    found = measure(seconds=0.0)
    assert (found.questions, found.accuracy.count, found.confidence) == (0, 0, None)
    assert (found.questions_per_minute, found.prompt_tokens) == (0.0, 0.0)
    assert found.own_ms == found.seconds == Percentiles(0.0, 0.0)
