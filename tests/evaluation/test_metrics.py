"""The figures of a run, computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.metrics import Outcome, percentile, summarize


def build_outcome(**overrides: Any) -> Outcome:
    values: dict[str, Any] = {
        "id": "1",
        "outcome": "answered",
        "executes": True,
        "correct": True,
        "seconds": 1.0,
        "gold_rows": 1,
    }
    return Outcome(**{**values, **overrides})


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([], 50, 0.0),
        ([3.0], 95, 3.0),
        ([1.0, 2.0, 3.0, 4.0], 50, 2.0),
        ([4.0, 1.0, 3.0, 2.0], 50, 2.0),
        ([1.0, 2.0, 3.0], 50, 2.0),
        ([float(n) for n in range(1, 21)], 95, 19.0),
        ([float(n) for n in range(1, 22)], 95, 20.0),
        ([1.0, 2.0], 0, 1.0),
        ([1.0, 2.0], 100, 2.0),
    ],
)
def test_a_percentile_is_the_nearest_rank(
    values: list[float], percent: float, expected: float
) -> None:
    assert percentile(values, percent) == expected


def test_accuracy_has_the_wilson_interval() -> None:
    outcomes = [build_outcome(correct=number < 20) for number in range(40)]
    summary = summarize(outcomes)
    assert (summary.questions, summary.correct, summary.accuracy) == (40, 20, 0.5)
    assert summary.accuracy_low == pytest.approx(0.352, abs=5e-4)
    assert summary.accuracy_high == pytest.approx(0.648, abs=5e-4)


def test_an_outcome_whose_gold_failed_counts_apart() -> None:
    summary = summarize(
        [
            build_outcome(),
            build_outcome(correct=False, executes=False, gold_rows=0),
            build_outcome(correct=False, gold_error="refused", seconds=99.0),
        ]
    )
    assert (summary.questions, summary.gold_failed, summary.gold_empty) == (2, 1, 1)
    assert (summary.correct, summary.executed, summary.accuracy) == (1, 1, 0.5)
    assert summary.seconds_p95 == 1.0


def test_the_own_time_leaves_out_the_model() -> None:
    stages = {"retrieve": 5.0, "generate": 900.0, "assess": 7.0, "repair": 800.0}
    summary = summarize([build_outcome(stages=stages), build_outcome(stages={})])
    assert summary.own_ms_p50 == summary.own_ms_p95 == 12.0


def test_a_stage_is_measured_where_it_ran() -> None:
    summary = summarize(
        [build_outcome(stages={"plan": 1.0}), build_outcome(stages={"plan": 3.0, "repair": 9.0})]
    )
    assert summary.stages_ms == {"plan": (1.0, 3.0), "repair": (9.0, 9.0)}


def test_no_outcome_is_no_accuracy_and_all_uncertainty() -> None:
    summary = summarize([])
    assert (summary.questions, summary.accuracy) == (0, 0.0)
    assert (summary.accuracy_low, summary.accuracy_high) == (0.0, 1.0)
