"""Claims: the confidence of an answer and whether it was right, the basis of all its figures.

Only answered questions make a claim. A ``clarify`` counts with the answer that it would have got,
if its confidence was recorded (above 0, since no vote has a confidence of 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from evaluation.metrics.figures import ReliabilityBin
from evaluation.runs.records import QuestionRecord

_BINS = 10


class Claim(NamedTuple):
    """The confidence of one answer, and whether it was right."""

    confidence: float
    right: bool


def find_claim(record: QuestionRecord) -> Claim | None:
    """The claim of a record, or None."""
    if record.outcome == "answered":
        return Claim(record.confidence, record.correct)
    if record.outcome == "clarify" and record.confidence > 0:
        # As in the pipeline: the first candidate of the ranking with a result.
        return Claim(
            record.confidence,
            next(
                (candidate.correct for candidate in record.candidates if candidate.group >= 0),
                False,
            ),
        )
    return None


def build_bins(claims: Sequence[Claim]) -> tuple[ReliabilityBin, ...]:
    """Bins of equal width, the last including its upper end; empty ones are left out."""
    filled: dict[int, list[Claim]] = {}
    for claim in claims:
        filled.setdefault(min(int(claim.confidence * _BINS), _BINS - 1), []).append(claim)
    return tuple(
        _build_bin(number / _BINS, (number + 1) / _BINS, inside)
        for number, inside in sorted(filled.items())
    )


def build_equal_bins(claims: Sequence[Claim]) -> tuple[ReliabilityBin, ...]:
    """Bins of nearly equal numbers of claims, from the lowest confidence to the highest.

    >>> [part.count for part in build_equal_bins([Claim(n / 30, True) for n in range(25)])]
    [2, 3, 2, 3, 2, 3, 2, 3, 2, 3]
    """
    ordered = sorted(claims)
    edges = [number * len(ordered) // _BINS for number in range(_BINS + 1)]
    parts = [ordered[low:high] for low, high in pairwise(edges) if high > low]
    return tuple(_build_bin(part[0].confidence, part[-1].confidence, part) for part in parts)


def measure_calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Expected calibration error (Naeini et al. 2015; Guo et al. 2017, equation 3) over ``bins``.

    >>> measure_calibration_error((ReliabilityBin(0.7, 0.8, 0.75, 0.5, 4),))
    0.25
    """
    count = sum(part.count for part in bins)
    return sum(part.count / count * abs(part.accuracy - part.confidence) for part in bins)


def measure_brier(claims: Sequence[Claim]) -> float:
    """The mean squared difference of confidence and outcome (Brier, Monthly Weather Review 1950).

    >>> measure_brier([Claim(0.5, True), Claim(0.0, False)])
    0.125
    """
    return sum((claim.confidence - claim.right) ** 2 for claim in claims) / len(claims)


def measure_auroc(claims: Sequence[Claim]) -> float:
    """The probability that a right answer has more confidence than a wrong one; a tie counts half.

    The area under the ROC curve (Hanley and McNeil, Radiology 1982). 0.5 if all are right or all
    are wrong.

    >>> measure_auroc([Claim(0.9, True), Claim(0.4, False), Claim(0.4, True)])
    0.75
    """
    right = sum(claim.right for claim in claims)
    wrong = len(claims) - right
    if not right or not wrong:
        return 0.5
    ahead = below = 0.0
    for _, tied in groupby(sorted(claims), key=lambda claim: claim.confidence):
        outcomes = [claim.right for claim in tied]
        ahead += sum(outcomes) * (below + outcomes.count(False) / 2)
        below += outcomes.count(False)
    return ahead / (right * wrong)


def trace_risk(claims: Sequence[Claim]) -> list[tuple[int, float]]:
    """(answers given, share of them wrong) for falling thresholds (Geifman & El-Yaniv 2017).

    Answers of equal confidence are added together, so their order makes no difference.
    """
    ordered = sorted(claims, key=lambda claim: -claim.confidence)
    curve = []
    covered = wrong = 0
    for _, tied in groupby(ordered, key=lambda claim: claim.confidence):
        for claim in tied:
            covered += 1
            wrong += not claim.right
        curve.append((covered, wrong / covered))
    return curve


def measure_area(curve: Sequence[tuple[int, float]]) -> float:
    """AURC (Geifman, Uziel & El-Yaniv 2019): the mean risk over the steps, one step an answer.

    Answers that are added together all count with the risk after that.

    >>> measure_area([(1, 0.0), (3, 1 / 3)])  # (0 + 1/3 + 1/3) / 3
    0.2222222222222222
    """
    before = [0, *(covered for covered, _ in curve)]
    steps = (
        (covered - previous) * risk
        for previous, (covered, risk) in zip(before, curve, strict=False)
    )
    return sum(steps) / curve[-1][0]


def find_threshold(claims: Sequence[Claim], accuracy: float) -> float | None:
    """The lowest threshold at which answers have at least this accuracy; None if there is none.

    >>> find_threshold([Claim(0.9, True), Claim(0.6, True), Claim(0.5, False)], 0.7)
    0.6
    """
    found = None
    ordered = sorted(claims, key=lambda claim: -claim.confidence)
    covered = right = 0
    for confidence, tied in groupby(ordered, key=lambda claim: claim.confidence):
        for claim in tied:
            covered += 1
            right += claim.right
        if right / covered >= accuracy:
            found = confidence
    return found


def _build_bin(low: float, high: float, inside: Sequence[Claim]) -> ReliabilityBin:
    return ReliabilityBin(
        low=low,
        high=high,
        confidence=sum(claim.confidence for claim in inside) / len(inside),
        accuracy=sum(claim.right for claim in inside) / len(inside),
        count=len(inside),
    )
