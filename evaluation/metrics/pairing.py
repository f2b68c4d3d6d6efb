"""Compares two runs question by question, with a significance test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluation.metrics.figures import Estimate, PairedComparison
from evaluation.metrics.statistics import estimate, mcnemar_exact
from evaluation.runs.records import QuestionRecord
from nl2sql.intervals import wilson_interval


def compare_runs(
    left_name: str,
    left_records: Sequence[QuestionRecord],
    right_name: str,
    right_records: Sequence[QuestionRecord],
) -> PairedComparison:
    """Compares the runs on the questions that both have and whose gold counts in both.

    ``gained`` and ``lost`` are in the order of the left run.
    """
    return compare_marks(
        left_name,
        {record.id: record.correct for record in left_records if record.counts},
        right_name,
        {record.id: record.correct for record in right_records if record.counts},
    )


def compare_marks(
    left_name: str, left: Mapping[str, bool], right_name: str, right: Mapping[str, bool]
) -> PairedComparison:
    """As ``compare_runs``, given for each question whether the two systems were right."""
    pairs = [(name, mark, right[name]) for name, mark in left.items() if name in right]
    gained = tuple(name for name, before, after in pairs if after and not before)
    lost = tuple(name for name, before, after in pairs if before and not after)
    return PairedComparison(
        left=left_name,
        right=right_name,
        shared=len(pairs),
        both=sum(before and after for _, before, after in pairs),
        neither=sum(not before and not after for _, before, after in pairs),
        gained=gained,
        lost=lost,
        difference=estimate_difference([after - before for _, before, after in pairs]),
        p_value=mcnemar_exact(len(gained), len(lost)),
    )


def estimate_difference(differences: Sequence[float]) -> Estimate:
    """The mean of paired differences, each from -1 to 1, with its interval.

    If all are equal, the bootstrap interval would be a point. Then the Wilson bound of a share of 0
    is used on both sides.

    >>> estimate_difference([0] * 10)  # z² / (n + z²) = 3.8415 / 13.8415
    Estimate(value=0.0, low=-0.277..., high=0.277..., count=10)
    """
    if len(set(differences)) != 1:
        return estimate(differences)
    mean, count = float(differences[0]), len(differences)
    _, reach = wilson_interval(0, count)
    return Estimate(mean, max(-1.0, mean - reach), min(1.0, mean + reach), count)
