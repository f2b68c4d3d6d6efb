"""Intervals and paired tests, against values computed by hand and by plain resampling."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.figures import Estimate
from evaluation.metrics.pairing import compare_runs
from evaluation.metrics.statistics import estimate, mcnemar_exact, percentile
from evaluation.runs.records import QuestionRecord
from tests.evaluation.builders import build_record


def test_a_share_has_the_interval_of_the_binomial_distribution() -> None:
    found = estimate([1.0] * 20 + [0.0] * 20)
    # The 2.5 % and 97.5 % quantiles of binomial(40, 1/2) are 14 and 26 (tables).
    assert found == Estimate(0.5, 14 / 40, 26 / 40, 40)


@pytest.mark.parametrize("spread", [1, 200], ids=["few distinct values", "many distinct values"])
def test_an_interval_is_that_of_plain_resampling(spread: int) -> None:
    random = np.random.default_rng(7)
    values = np.round(random.random(200) * spread) / spread
    means = [random.choice(values, size=len(values)).mean() for _ in range(10_000)]
    found = estimate(values.tolist())
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(np.percentile(means, 2.5), abs=0.005)
    assert found.high == pytest.approx(np.percentile(means, 97.5), abs=0.005)


@pytest.mark.parametrize(("share", "low", "high"), [(0.0, 0.0, 0.2775), (1.0, 0.7225, 1.0)])
def test_all_wrong_and_all_right_keep_an_interval(share: float, low: float, high: float) -> None:
    found = estimate([share] * 10)
    assert (found.value, found.count) == (share, 10)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4)
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize(
    ("gained", "lost", "expected"),
    [(0, 0, 1.0), (1, 0, 1.0), (0, 6, 2 / 64), (8, 2, 2 * (1 + 10 + 45) / 1024)],
)
def test_mcnemar_is_the_two_sided_sign_test(gained: int, lost: int, expected: float) -> None:
    assert mcnemar_exact(gained, lost) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([], 50, 0.0),
        ([4.0, 1.0, 3.0, 2.0], 50, 2.0),
        ([float(n) for n in range(1, 22)], 95, 20.0),
        ([1.0, 2.0], 0, 1.0),
        ([1.0, 2.0], 100, 2.0),
    ],
)
def test_a_percentile_is_the_nearest_rank(
    values: list[float], percent: float, expected: float
) -> None:
    assert percentile(values, percent) == expected


def build_run(marks: str, start: int = 0) -> list[QuestionRecord]:
    """A record for each mark: ``+`` right, ``-`` wrong, ``x`` a gold that failed."""
    return [
        build_record(f"q{number}", correct=mark == "+", gold_error="timeout" if mark == "x" else "")
        for number, mark in enumerate(marks, start=start)
    ]


def test_runs_are_compared_on_the_questions_that_count_in_both() -> None:
    left, right = build_run("++--+-x+"), build_run("+-+-++-x")
    found = compare_runs("K=1", left, "K=4", right)
    assert (found.left, found.right, found.shared) == ("K=1", "K=4", 6)
    assert (found.gained, found.lost) == (("q2", "q5"), ("q1",))
    # Right minus left: (2 - 1) / 6. Exactly one of three the other way: 2 * (1 + 3) / 8, at most 1.
    assert found.difference.value == pytest.approx(1 / 6)
    assert found.difference.low < 0 < found.difference.high
    assert found.p_value == 1.0
    assert compare_runs("K=1", left, "K=4", right[::-1]) == found


def test_runs_without_a_shared_question_have_nothing_to_say() -> None:
    found = compare_runs("a", build_run("+"), "b", build_run("-", start=1))
    assert (found.shared, found.difference.count, found.p_value) == (0, 0, 1.0)
