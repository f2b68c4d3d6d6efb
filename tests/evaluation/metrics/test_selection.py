"""The vote against simpler choices among the same candidates."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.metrics.pairing import compare_selection, is_majority_correct, is_vote_correct
from evaluation.runs.records import CandidateRecord, QuestionRecord
from tests.evaluation.builders import build_record


def build(name: str, group: int, samples: int, correct: bool = False) -> CandidateRecord:
    return CandidateRecord(id=name, sql=name, group=group, samples=samples, correct=correct)


def ask(*candidates: CandidateRecord, **overrides: Any) -> QuestionRecord:
    return build_record(**{"k": 4, "candidates": candidates, **overrides})


@pytest.mark.parametrize(
    ("candidates", "right"),
    [
        # Ranked first, but one of four.
        ((build("c2", 0, 1), build("c1", 1, 3, correct=True)), True),
        # Two queries with the same result outvote one that was drawn twice.
        ((build("c1", 0, 2), build("c2", 1, 1, True), build("c3", 1, 2, True)), True),
        # Of equally many, the one drawn first; the tenth comes after the second.
        ((build("c10", 0, 2), build("c2", 1, 2, True)), True),
        # A repair has the samples of what it repairs.
        ((build("c1", -1, 0), build("c2", 0, 1), build("c1r", 1, 3, True)), True),
        ((build("c1", -1, 4),), False),
        ((), False),
    ],
)
def test_the_majority_counts_samples_by_result(
    candidates: tuple[CandidateRecord, ...], right: bool
) -> None:
    assert is_majority_correct(ask(*candidates)) is right


def test_the_vote_is_right_also_where_it_asked_back() -> None:
    winner = build("c2", 0, 1, correct=True)
    assert is_vote_correct(ask(winner, outcome="clarify", correct=False, confidence=0.2))
    assert not is_vote_correct(ask(outcome="refused", correct=False))


def test_the_vote_is_held_against_the_better_of_both() -> None:
    found = compare_selection(
        [
            # The majority is right, the first sample is not.
            ask(build("c1", 0, 1), build("c2", 1, 3, True), id="q1", correct=False),
            # Only the vote is right.
            ask(build("c3", 0, 1, True), build("c1", 1, 3), id="q2"),
            ask(build("c1", 0, 4, True), id="q3"),
            ask(id="q4", gold_error="timeout"),
        ]
    )
    assert found is not None
    assert (found.left, found.right, found.shared) == ("majority", "vote", 3)
    assert (found.gained, found.lost, found.both) == (("q2",), ("q1",), 1)


def test_the_first_sample_may_be_the_better_one() -> None:
    found = compare_selection([ask(build("c1", 0, 1, True), build("c2", 1, 3))])
    assert found is not None
    assert (found.left, found.both) == ("first sample", 1)


def test_without_a_vote_there_is_nothing_to_compare() -> None:
    assert compare_selection([ask(build("c1", -1, 1))]) is None
    assert compare_selection([ask(build("c1", 0, 1), k=1)]) is None
    assert compare_selection([]) is None
