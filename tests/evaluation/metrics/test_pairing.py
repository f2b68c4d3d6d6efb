"""Two runs question by question."""

from __future__ import annotations

import pytest

from evaluation.metrics.pairing import compare_runs
from evaluation.runs.records import QuestionRecord
from tests.evaluation.builders import build_record


def build_run(marks: str, start: int = 0) -> list[QuestionRecord]:
    """A record for each mark: ``+`` right, ``-`` wrong, ``x`` a gold that failed."""
    return [
        build_record(f"q{number}", correct=mark == "+", gold_error="timeout" if mark == "x" else "")
        for number, mark in enumerate(marks, start=start)
    ]


def test_each_shared_question_falls_into_one_of_four() -> None:
    found = compare_runs("K=1", build_run("++--+-"), "K=4", build_run("+-+-++"))
    assert (found.left, found.right, found.shared) == ("K=1", "K=4", 6)
    assert (found.both, found.neither) == (2, 1)
    assert (found.gained, found.lost) == (("q2", "q5"), ("q1",))
    # Right minus left: (2 - 1) / 6. Exactly one of three the other way: 2 * (1 + 3) / 8, at most 1.
    assert found.difference.value == pytest.approx(1 / 6)
    assert found.difference.low < 0 < found.difference.high
    assert found.p_value == 1.0


def test_the_order_of_the_right_run_makes_no_difference() -> None:
    left, right = build_run("++--+-"), build_run("+-+-++")
    assert compare_runs("a", left, "b", right) == compare_runs("a", left, "b", right[::-1])


def test_only_what_counts_in_both_is_compared() -> None:
    found = compare_runs("a", build_run("x+--"), "b", build_run("-x+-+", start=0))
    assert (found.shared, found.gained, found.neither) == (2, ("q2",), 1)


def test_a_gain_that_is_no_chance() -> None:
    found = compare_runs("a", build_run("-" * 10 + "+" * 10), "b", build_run("+" * 20))
    assert found.p_value == pytest.approx(2 / 2**10)
    assert found.difference.value == 0.5
    assert found.difference.low > 0


def test_runs_that_agree_on_everything_still_have_an_interval() -> None:
    found = compare_runs("a", build_run("++--++--++"), "b", build_run("++--++--++"))
    assert (found.difference.value, found.p_value) == (0.0, 1.0)
    assert found.difference.high == -found.difference.low == pytest.approx(0.2775, abs=1e-4)


@pytest.mark.parametrize(("left", "right", "value"), [("-" * 10, "+" * 10, 1.0), ("+", "-", -1.0)])
def test_a_run_that_changes_everything_stays_within_bounds(
    left: str, right: str, value: float
) -> None:
    found = compare_runs("a", build_run(left), "b", build_run(right)).difference
    assert found.value == value
    assert -1.0 <= found.low < found.high <= 1.0


def test_runs_without_a_shared_question_have_nothing_to_say() -> None:
    found = compare_runs("a", build_run("+"), "b", build_run("-", start=1))
    assert (found.shared, found.difference.count, found.p_value) == (0, 0, 1.0)
