"""Compares two runs question by question, and judges the vote and simpler choices.

The first sample is the answer without any choice; the majority counts equal results, without scores
or weights. A repair has the samples that it took over, so all ways choose among the same repaired
candidates.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evaluation.metrics.confidence import find_claim
from evaluation.metrics.figures import Estimate, PairedComparison
from evaluation.metrics.statistics import estimate, mcnemar_exact
from evaluation.runs.records import CandidateRecord, QuestionRecord

_NUMBER = re.compile(r"\d+")


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
    reach = estimate([0.0] * count).high
    return Estimate(mean, max(-1.0, mean - reach), min(1.0, mean + reach), count)


def is_first_correct(record: QuestionRecord) -> bool:
    """True if the first sampled query is right without repair."""
    return any(
        candidate.id == "c1" and candidate.origin == "sample" and candidate.correct
        for candidate in record.candidates
    )


def is_majority_correct(record: QuestionRecord) -> bool:
    """True if the result of most samples is right; among equals, the first drawn is taken.

    An empty result counts like any other. False if no candidate gave a result.
    """
    groups: dict[int, list[CandidateRecord]] = {}
    for candidate in sorted(record.candidates, key=_order_drawn):
        if candidate.group >= 0:
            groups.setdefault(candidate.group, []).append(candidate)
    # Among equals, ``max`` returns the first, and groups are in the order of drawing.
    largest = max(
        groups.values(), key=lambda group: sum(member.samples for member in group), default=[]
    )
    return bool(largest) and largest[0].correct


def is_vote_correct(record: QuestionRecord) -> bool:
    """True if the vote's winner is right, even if the outcome was clarify."""
    claim = find_claim(record)
    return claim is not None and claim.right


def has_groups(records: Sequence[QuestionRecord]) -> bool:
    """True if results were grouped by a vote."""
    return any(candidate.group >= 0 for record in records for candidate in record.candidates)


def _order_drawn(candidate: CandidateRecord) -> tuple[int, str]:
    """Sort key: candidates are numbered in the order of drawing; a repair follows its original."""
    found = _NUMBER.search(candidate.id)
    return (int(found.group()) if found else 0, candidate.id)
